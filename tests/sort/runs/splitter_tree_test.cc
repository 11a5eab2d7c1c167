// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "sort/runs/splitter_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace hetsort::sort::test {
namespace {

void expect_as_upper_bound(std::vector<Element> splitters, const std::vector<Element>& elements) {
  std::sort(splitters.begin(), splitters.end());
  const SplitterTree tree(splitters);
  ASSERT_EQ(tree.buckets(), splitters.size() + 1);
  for (std::size_t at = 0; at + SplitterTree::kBatch <= elements.size(); at += SplitterTree::kBatch) {
    std::array<std::uint32_t, SplitterTree::kBatch> buckets{};
    tree.classify(elements.data() + at, buckets.data());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const auto bound = std::upper_bound(splitters.begin(), splitters.end(), elements[at + i]);
      ASSERT_EQ(buckets[i], static_cast<std::uint32_t>(bound - splitters.begin())) << splitters.size() << " splitters";
    }
  }
}

TEST(SplitterTree, counts_the_splitters_not_above_an_element_for_every_number_of_splitters) {
  for (std::size_t count = 0; count <= 70; ++count) {
    std::vector<Element> splitters;
    std::vector<Element> elements;
    for (std::size_t i = 0; i < count; ++i) splitters.push_back(Element{10 * i + 10} << 64);
    for (std::size_t i = 0; i < 8 * 100; ++i) elements.push_back((Element{i} << 64) + (i % 3) - 1);
    expect_as_upper_bound(splitters, elements);
  }
}

TEST(SplitterTree, accepts_the_minimum_and_maximum_elements) {
  const Element largest = ~Element{0};
  std::vector<Element> elements(8, largest - 1);
  elements.resize(16, 0);
  elements.resize(24, largest >> 1);
  for (const std::size_t count : {1, 2, 3, 4, 7, 8, 9, 4095}) {
    expect_as_upper_bound(std::vector<Element>(count, largest - 1), elements);
    expect_as_upper_bound(std::vector<Element>(count, 0), elements);
  }
}

RC_GTEST_PROP(SplitterTree, agrees_with_upper_bound, ()) {
  const auto narrow = rc::gen::map(rc::gen::inRange(0, 30), [](int v) { return Element{static_cast<unsigned>(v)}; });
  auto elements = *rc::gen::container<std::vector<Element>>(narrow);
  elements.resize((elements.size() + 8) / 8 * 8);
  expect_as_upper_bound(*rc::gen::container<std::vector<Element>>(narrow), elements);
  RC_ASSERT(!testing::Test::HasFatalFailure());
}

}  // namespace
}  // namespace hetsort::sort::test
