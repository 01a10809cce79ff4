# The program of torch.json and torch_ncu.csv.gz: four layers of a transformer, five times.
import torch

layer = torch.nn.TransformerEncoderLayer(512, 8, batch_first=True).cuda().eval()
net = torch.nn.TransformerEncoder(layer, 4).cuda().eval()
x = torch.randn(16, 256, 512, device="cuda")
with torch.no_grad():
    for _ in range(5):
        y = net(x)
torch.cuda.synchronize()
print(float(y.sum()) != 0)
