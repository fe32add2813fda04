// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Tokens of TSDL, the metadata language of CTF 1.8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ctf::tsdl {

enum class TokenKind : uint8_t { end, identifier, integer, string, symbol };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;    // of a symbol or identifier; of a string without quotes and escapes
  uint64_t value = 0;  // of an integer
  uint32_t line = 1;
  uint32_t column = 1;

  std::string place() const;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token; throws MetadataError on a character that begins none.
  Token next();

 private:
  void skip_blanks();
  void skip_comment();
  Token identifier(Token token);
  Token integer(Token token);
  Token string(Token token);
  Token symbol(Token token);
  char escape(const Token& token);
  uint64_t digits(unsigned base, unsigned most);
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : 0; }
  char take();

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  uint32_t column_ = 1;
};

}  // namespace ctf::tsdl
