// docs/coalprof.schema.json and docs/counters.md against the table of counters. Documents are held
// against the schema by the tests of the command line.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/result/counter.h"
#include "test_data.h"

namespace coalprof {
namespace {

std::string docs_file(const char* name) { return test_data_folder() + "/../../docs/" + name; }

std::string text_of_file(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

bool updates_docs() { return std::getenv("COALPROF_UPDATE_DOCS") != nullptr; }

nlohmann::json schema() {
    return nlohmann::json::parse(text_of_file(docs_file("coalprof.schema.json")));
}

// As the schema writes them down.
std::string list_of_keys() {
    std::string lines = "\n       ";
    std::size_t columns = 7;
    for (const CounterInfo& counter : all_counters()) {
        const std::string item = " \"" + std::string(counter.key) + "\",";
        columns += item.size();
        if (columns > 110) {
            lines += "\n       ";
            columns = 7 + item.size();
        }
        lines += item;
    }
    return lines.substr(0, lines.size() - 1) + "\n      ]";
}

TEST(Schema, lists_exactly_the_counters_in_their_order) {
    const std::string path = docs_file("coalprof.schema.json");
    if (std::string text = text_of_file(path); updates_docs()) {
        const std::size_t begin = text.find('[', text.find("\"Every key there is"));
        text.replace(begin + 1, text.find(']', begin) - begin, list_of_keys());
        std::ofstream(path) << text;
    }
    nlohmann::json keys = nlohmann::json::array();
    for (const CounterInfo& counter : all_counters()) keys.push_back(counter.key);
    EXPECT_EQ(schema()["$defs"]["counter"]["enum"], keys);
}

// The guide speaks of the four kinds of access at once: load_sectors is in it as OP_sectors.
std::string key_in_guide(const CounterInfo& counter) {
    constexpr std::size_t access_counters = access_kinds.size() * access_field_count;
    const std::string key(counter.key);
    if (static_cast<std::size_t>(counter.counter) >= access_counters) return key;
    return "OP" + key.substr(key.find('_'));
}

// A counter that is missing there gets a row behind that of the counter before it.
TEST(Guide, explains_every_counter) {
    const std::string path = docs_file("counters.md");
    std::string guide = text_of_file(path);
    std::string before;
    for (const CounterInfo& counter : all_counters()) {
        const std::string mark = '`' + key_in_guide(counter) + '`';
        if (guide.find(mark) == guide.npos && updates_docs()) {
            std::size_t row = guide.find(before);
            while (guide.compare(guide.rfind('\n', row) + 1, 3, "| `") != 0)
                row = guide.find(before, row + 1);
            guide.insert(guide.find('\n', row) + 1,
                         "| " + mark + " | " + std::string(counter.meaning) + " |\n");
        }
        EXPECT_NE(guide.find(mark), guide.npos) << counter.key;
        before = mark;
    }
    if (updates_docs()) std::ofstream(path) << guide;
}

TEST(Schema, readings_hold_nothing_but_counters) {
    EXPECT_EQ(schema()["$defs"]["readings"]["propertyNames"]["$ref"], "#/$defs/counter");
}

}  // namespace
}  // namespace coalprof
