// A fuzz target without libFuzzer, for any compiler: runs it over the files of a folder (every
// input that once failed is tried again), then over a fixed number of mutations of them, always
// the same ones. The input that fails is written to failed_input, to become a file of the folder.
//
//     NAME_fuzz FOLDER [MUTATIONS]
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t most_bytes = 4096;  // of a mutation

// splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine and library.
class Random {
 public:
    std::size_t below(std::size_t limit) {
        std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15ull;
        z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9ull;
        z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EBull;
        return static_cast<std::size_t>((z ^ z >> 31) % limit);
    }
    std::uint8_t byte() { return static_cast<std::uint8_t>(below(256)); }

 private:
    std::uint64_t state_ = 1;
};

std::vector<Input> read_folder(const char* folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.is_regular_file()) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());  // so that the mutations are the same ones everywhere
    std::vector<Input> inputs;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return inputs;
}

// One small change: a byte replaced, a bit flipped, a piece dropped, a piece doubled, a byte put
// in, or a piece of another seed in its place.
void mutate(Input& input, const std::vector<Input>& seeds, Random& random) {
    if (input.empty()) return input.push_back(random.byte());
    const std::size_t at = random.below(input.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(input.size() - at, 16));
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto piece_end = place + static_cast<std::ptrdiff_t>(length);
    switch (random.below(6)) {
        case 0: *place = random.byte(); break;
        case 1: *place = static_cast<std::uint8_t>(*place ^ 1u << random.below(8)); break;
        case 2: input.erase(place, piece_end); break;
        case 3: {
            const Input piece(place, piece_end);
            input.insert(place, piece.begin(), piece.end());
            break;
        }
        case 4: input.insert(place, random.byte()); break;
        default: {
            const Input& other = seeds[random.below(seeds.size())];
            if (other.empty()) return;
            const std::size_t from = random.below(other.size());
            const std::size_t bytes = std::min<std::size_t>(other.size() - from, length);
            const auto piece = other.begin() + static_cast<std::ptrdiff_t>(from);
            input.insert(place, piece, piece + static_cast<std::ptrdiff_t>(bytes));
        }
    }
    if (input.size() > most_bytes) input.resize(most_bytes);
}

const Input* current = nullptr;

void keep_input(int) {
    std::FILE* file = std::fopen("failed_input", "wb");
    if (!file) return;
    std::fwrite(current->data(), 1, current->size(), file);
    std::fclose(file);
    std::fputs("the input is in ./failed_input\n", stderr);
}

void run(const Input& input) {
    current = &input;
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::vector<Input> seeds = read_folder(argv[1]);
    if (seeds.empty()) return 1;
    std::signal(SIGABRT, keep_input);
    for (const Input& seed : seeds) run(seed);

    const std::size_t mutations = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    Random random;
    for (std::size_t i = 0; i < mutations; ++i) {
        Input input = seeds[random.below(seeds.size())];
        for (std::size_t changes = 1 + random.below(4); changes > 0; --changes)
            mutate(input, seeds, random);
        run(input);
    }
    std::printf("%zu inputs and %zu mutations\n", seeds.size(), mutations);
    return 0;
}
