#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/calibrate/calibration.h"
#include "core/traffic/duration.h"

namespace coalprof {
namespace {

// The model's error at its best, as a share of a launch's duration: the median over the launches of
// tests/data is 5 %.
constexpr double model_error = 0.05;
// Errors beyond this count by their size and not by its square: there the model is wrong, and not
// the rates.
constexpr double largest_error = 2 * model_error;
// The difference of two GPUs' rates, as a logarithm: a guess, a factor of 1.6. The start of a
// launch depends on the host, so that another host's value says less.
double prior_width(const RateInfo& rate) {
    const bool is_of_host =
        rate.value == &Rates::start_seconds || rate.value == &Rates::flushed_start_seconds;
    return is_of_host ? 1 : 0.5;
}

std::vector<RateInfo> fitted_rates() {
    std::vector<RateInfo> fitted;
    std::ranges::copy_if(all_rates(), std::back_inserter(fitted), &RateInfo::is_calibrated);
    return fitted;
}

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// x of a * x = b, a being symmetric and positive, by Cholesky's factors.
class Factors {
 public:
    explicit Factors(Matrix a) : a_(std::move(a)) {
        for (std::size_t i = 0; i < a_.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) {
                double rest = a_[i][j];
                for (std::size_t k = 0; k < j; ++k) rest -= a_[i][k] * a_[j][k];
                a_[i][j] = i == j ? std::sqrt(rest) : rest / a_[j][j];
            }
    }
    Vector solve(Vector b) const {
        for (std::size_t i = 0; i < b.size(); ++i) {
            for (std::size_t k = 0; k < i; ++k) b[i] -= a_[i][k] * b[k];
            b[i] /= a_[i][i];
        }
        for (std::size_t i = b.size(); i-- > 0;) {
            for (std::size_t k = i + 1; k < b.size(); ++k) b[i] -= a_[k][i] * b[k];
            b[i] /= a_[i][i];
        }
        return b;
    }

 private:
    Matrix a_;
};

// The sum of squares and its slopes, with the logarithms of rates as unknowns.
class Problem {
 public:
    Problem(std::span<const TimedWork> launches, const Rates& prior, std::vector<RateInfo> rates)
        : launches_(launches), prior_(prior), rates_(std::move(rates)) {}

    const std::vector<RateInfo>& rates() const { return rates_; }

    double cost(const Rates& at) const {
        double sum = 0;
        for (const RateInfo& rate : rates_) sum += square(from_prior(at, rate) / prior_width(rate));
        for (const TimedWork& launch : launches_) {
            const double error = std::abs(error_of(launch, at));
            sum += error < largest_error
                       ? square(error / model_error)
                       : (2 * error - largest_error) * largest_error / square(model_error);
        }
        return sum;
    }

    // For one launch: the share by which it becomes longer when a rate grows by a share.
    Vector slopes(const TimedWork& launch, const Rates& at) const {
        constexpr double step = 1e-4;
        const double before = std::log(duration_of(launch.work, at).seconds);
        Vector slopes(rates_.size());
        for (std::size_t k = 0; k < rates_.size(); ++k) {
            Rates moved = at;
            moved.*rates_[k].value *= std::exp(step);
            slopes[k] = (std::log(duration_of(launch.work, moved).seconds) - before) / step;
        }
        return slopes;
    }

    void linearize(const Rates& at, Matrix& squares, Vector& pull) const {
        const std::size_t n = rates_.size();
        squares.assign(n, Vector(n, 0));
        pull.assign(n, 0);
        for (const TimedWork& launch : launches_) {
            const double error = error_of(launch, at);
            const double weight =
                std::min(1.0, largest_error / std::abs(error)) / square(model_error);
            const Vector slope = slopes(launch, at);
            for (std::size_t i = 0; i < n; ++i) {
                pull[i] -= weight * error * slope[i];
                for (std::size_t j = 0; j < n; ++j) squares[i][j] += weight * slope[i] * slope[j];
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double width = prior_width(rates_[i]);
            squares[i][i] += 1 / square(width);
            pull[i] -= from_prior(at, rates_[i]) / square(width);
        }
    }

 private:
    static double square(double x) { return x * x; }
    double from_prior(const Rates& at, const RateInfo& rate) const {
        return std::log(at.*rate.value / prior_.*rate.value);
    }
    static double error_of(const TimedWork& launch, const Rates& at) {
        return std::log(duration_of(launch.work, at).seconds / launch.seconds);
    }

    std::span<const TimedWork> launches_;
    Rates prior_;
    std::vector<RateInfo> rates_;
};

Rates moved_by(Rates rates, const std::vector<RateInfo>& which, const Vector& step) {
    for (std::size_t k = 0; k < which.size(); ++k)
        rates.*which[k].value *= std::exp(std::clamp(step[k], -1.0, 1.0));
    return rates;
}

// Minimizes by Levenberg and Marquardt's method.
Rates best_rates(const Problem& problem, Rates at) {
    constexpr int most_steps = 200;
    constexpr double least_gain = 1e-10;
    double damping = 1e-3;
    double cost = problem.cost(at);
    for (int step = 0; step < most_steps; ++step) {
        Matrix squares;
        Vector pull;
        problem.linearize(at, squares, pull);
        double gain = 0;
        for (int attempt = 0; attempt < 12 && gain <= 0; ++attempt) {
            Matrix damped = squares;
            for (std::size_t i = 0; i < damped.size(); ++i) damped[i][i] *= 1 + damping;
            const Rates next =
                moved_by(at, problem.rates(), Factors(std::move(damped)).solve(pull));
            const double next_cost = problem.cost(next);
            if (next_cost < cost) {
                gain = cost - next_cost;
                cost = next_cost;
                at = next;
                damping = std::max(damping / 8, 1e-9);
            } else {
                damping *= 4;
            }
        }
        if (gain <= least_gain * cost) break;
    }
    return at;
}

// The launches that determine rate k best.
std::vector<std::size_t> most_telling(const std::vector<Vector>& slopes, std::size_t k) {
    constexpr std::size_t most = 4;
    constexpr double least_slope = 0.1;
    std::vector<std::size_t> order(slopes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto slope = [&](std::size_t i) { return std::abs(slopes[i][k]); };
    std::erase_if(order, [&](std::size_t i) { return slope(i) < least_slope; });
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return slope(a) != slope(b) ? slope(a) > slope(b) : a < b;
    });
    order.resize(std::min(order.size(), most));
    return order;
}

// The uncertainty of each rate of the problem.
Vector doubts_at(const Problem& problem, const Rates& at) {
    Matrix squares;
    Vector pull;
    problem.linearize(at, squares, pull);
    const Factors factors(std::move(squares));
    Vector doubts;
    for (std::size_t k = 0; k < problem.rates().size(); ++k) {
        Vector unit(problem.rates().size(), 0);
        unit[k] = 1;
        doubts.push_back(std::sqrt(factors.solve(std::move(unit))[k]));
    }
    return doubts;
}

// The rates that launches determine better than a look at another GPU does.
std::vector<RateInfo> told_rates(const Problem& problem, const Rates& at) {
    const Vector doubts = doubts_at(problem, at);
    std::vector<RateInfo> told;
    for (std::size_t k = 0; k < doubts.size(); ++k)
        if (doubts[k] < prior_width(problem.rates()[k]) / 2) told.push_back(problem.rates()[k]);
    return told;
}

}  // namespace

RateFit fit_rates(std::span<const TimedWork> launches, const Rates& prior) {
    const Problem all(launches, prior, fitted_rates());
    const Problem problem(launches, prior, told_rates(all, best_rates(all, prior)));
    RateFit fit{best_rates(problem, prior), {}};
    const Vector doubts = doubts_at(problem, fit.rates);
    std::vector<Vector> slopes;
    for (const TimedWork& launch : launches) slopes.push_back(problem.slopes(launch, fit.rates));

    for (const RateInfo& rate : all_rates()) {
        FittedRate& one = fit.by_rate.emplace_back(
            FittedRate{.info = rate, .value = fit.rates.*rate.value, .launches = {}});
        const auto found = std::ranges::find(problem.rates(), rate.value, &RateInfo::value);
        if (found == problem.rates().end()) continue;
        const auto k = static_cast<std::size_t>(found - problem.rates().begin());
        one.is_measured = true;
        one.doubt = doubts[k];
        one.launches = most_telling(slopes, k);
    }
    return fit;
}

}  // namespace coalprof
