// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// Fields of a request in messages. Code below the interfaces does not know how a caller spells what it asks for: the
// program has `-S`, the library `memory`. It names the field, and the interface of the process has the word for it.
#pragma once

#include <string>
#include <string_view>

namespace hetsort::io {

/// The word for the field `name`, which is that of an option in the tables of job/options, with underscores.
using SpellField = std::string (*)(std::string_view name);

/// The field in quotes, for callers that set it by its name.
inline std::string quoted_field(std::string_view name) { return std::string("'").append(name).append("'"); }

/// How this process spells fields. An interface with words of its own sets it before threads start.
inline SpellField spell_field = quoted_field;

/// Returns what a message calls the field `name`, such as "root_input".
inline std::string field(std::string_view name) { return spell_field(name); }

}  // namespace hetsort::io
