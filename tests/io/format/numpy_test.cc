// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
#include "io/format/numpy.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/io/scratch.h"

namespace hetsort::io::test {

namespace {

using std::string_literals::operator""s;

NumpyType type_of(const std::string& description) { return numpy_type(description, 1, "file"); }

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(NumpyTypes, have_the_sizes_and_places_that_numpy_gives_them) {
  EXPECT_EQ(type_of("'<f8'").bytes(), 8U);
  EXPECT_EQ(type_of("'<U7'").bytes(), 28U);
  EXPECT_EQ(type_of("'<M8[25us]'").kind, 'M');
  EXPECT_TRUE(type_of("'>i4'").big_endian);
  const NumpyType record = type_of("[('a', '|u1'), ('', '|V3'), (('t', 'b'), '<f4', (2, 3)), ('c', [('d', '<i2'), ])]");
  ASSERT_EQ(record.fields.size(), 4U);
  EXPECT_EQ(record.bytes(), 1U + 3 + 24 + 2);
  EXPECT_EQ(record.fields[2].name, "b");
  EXPECT_EQ(record.fields[2].offset, 4U);
  EXPECT_EQ(record.fields[2].count, 6U);
  EXPECT_EQ(record.fields[3].fields.front().name, "d");
  EXPECT_EQ(type_of("[('\xe4', '|u1')]").fields.front().name, "\xc3\xa4");
}

TEST(NumpyTypes, that_are_malformed_or_too_large_are_errors) {
  for (const std::string text : {"", "'<f8", "'<q8'", "'<f'", "'<f8x'", "'|O'", "[]", "'|V0'", "[('a',)]",
                                 "[('a', '<f8', (1000000, 1000000))]", "[('a', '<f8', (2,), 1)]", "'|S9999999'",
                                 "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "('<f8', ('x',))", "True"})
    EXPECT_THROW(type_of(text), Error) << text;
}

TEST(NumpyHeaders, are_read_as_they_were_made) {
  const Scratch folder;
  const std::string wide = "[('" + std::string(70'000, 'x') + "', '<f8')]";
  for (const std::string& description : {"'<f8'"s, "[('id', '<u8')]"s, wide})
    for (const unsigned version : {1U, 3U}) {
      const NumpyHeader like{.description = description, .version = version};
      const std::string header = text_of(make_numpy_header(like, 3));
      EXPECT_EQ(header.size() % 64, 0U);
      EXPECT_EQ(make_numpy_header(like, UINT64_MAX).size(), header.size());
      write_all(folder / "in", header + std::string(24, 'x'));
      const std::optional<NumpyHeader> found = read_numpy_header(File::open_read(folder / "in"));
      ASSERT_TRUE(found);
      EXPECT_EQ(found->header_bytes, header.size());
      EXPECT_EQ(found->elements, 3U);
      EXPECT_EQ(found->description, description);
      EXPECT_EQ(found->version, version == 3 ? 3U : description == wide ? 2U : 1U);
    }
}

TEST(NumpyHeaders, of_other_files_are_none_and_cut_ones_are_errors) {
  const Scratch folder;
  const std::string whole = text_of(make_numpy_header({.description = "'<f8'"}, 0));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_all(folder / "in", whole.substr(0, bytes));
    const File file = File::open_read(folder / "in");
    if (bytes < 6)
      EXPECT_FALSE(read_numpy_header(file));
    else
      EXPECT_THROW(read_numpy_header(file), Error) << bytes;
  }
}

}  // namespace

}  // namespace hetsort::io::test
