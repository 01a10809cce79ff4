#include "core/result/texts.h"

namespace coalprof {

namespace {

// Of what may be const.
template <typename Values, typename Visit>
void visit_values(Values& values, const Visit& visit) {
    for (auto& [key, value] : values) {
        visit(key);
        if (auto* text = std::get_if<std::string>(&value)) visit(*text);
    }
}

template <typename SomePoint, typename Visit>
void visit_point(SomePoint& point, const Visit& visit) {
    visit(point.name);
    visit_values(point.parameters, visit);
    for (auto& one : point.instructions)
        for (auto* text : {&one.array, &one.op, &one.type, &one.index, &one.access}) visit(*text);
    if (point.launch) visit(point.launch->architecture);
    visit(point.failure);
}

}  // namespace

void each_text(NamedValues& values, const VisitText& visit) { visit_values(values, visit); }
void each_text(Point& point, const VisitText& visit) { visit_point(point, visit); }
void each_text(const Point& point, const LookAtText& look) { visit_point(point, look); }

void each_text(ResultTail& tail, const VisitText& visit) {
    for (Warning& warning : tail.warnings)
        for (std::string* text : {&warning.code, &warning.point, &warning.text}) visit(*text);
    for (Verdict& verdict : tail.verdicts) {
        each_text(verdict.scope, visit);
        for (NamedValues& settings : verdict.best) each_text(settings, visit);
        visit(verdict.text);
    }
    for (LineFinding& one : tail.findings) {
        for (std::string* text :
             {&one.point, &one.kernel, &one.cause, &one.text, &one.fix, &one.like, &one.warp})
            visit(*text);
        for (std::string& other : one.others) visit(other);
    }
}

}  // namespace coalprof
