// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "metadata/tsdl_lexer.hpp"

#include <array>

#include "metadata/errors.hpp"

namespace ctf::tsdl {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

std::string shown(char c) {
  if (c >= ' ' && c <= '~') return std::string("'") + c + "'";
  return "byte " + std::to_string(static_cast<unsigned char>(c));
}

}  // namespace

std::string Token::place() const {
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

char Lexer::take() {
  const char c = text_[at_++];
  if (c == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  return c;
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      take();
    } else if (c == '/' && (peek(1) == '*' || peek(1) == '/')) {
      skip_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_comment() {
  Token start;
  start.line = line_;
  start.column = column_;
  take();
  if (take() == '/') {
    while (at_ < text_.size() && peek() != '\n') take();
    return;
  }
  while (at_ < text_.size()) {
    if (take() == '*' && peek() == '/') {
      take();
      return;
    }
  }
  throw MetadataError(start.place(), "the comment that begins here does not end");
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.line = line_;
  token.column = column_;
  if (at_ >= text_.size()) return token;
  const char c = peek();
  if (is_letter(c)) return identifier(std::move(token));
  if (is_digit(c)) return integer(std::move(token));
  if (c == '"') return string(std::move(token));
  return symbol(std::move(token));
}

Token Lexer::identifier(Token token) {
  token.kind = TokenKind::identifier;
  while (is_letter(peek()) || is_digit(peek())) token.text += take();
  return token;
}

Token Lexer::integer(Token token) {
  token.kind = TokenKind::integer;
  unsigned base = 10;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    take();
    take();
    base = 16;
    if (digit_value(peek()) >= 16) throw MetadataError(token.place(), "0x has no digit after it");
  } else if (peek() == '0') {
    base = 8;
  }
  while (digit_value(peek()) < static_cast<int>(base)) {
    const uint64_t before = token.value;
    token.value = before * base + static_cast<uint64_t>(digit_value(take()));
    if (token.value / base != before) {
      throw MetadataError(token.place(), "the integer has more than 64 bits");
    }
  }
  while (peek() == 'u' || peek() == 'U' || peek() == 'l' || peek() == 'L') take();
  if (is_letter(peek()) || is_digit(peek())) {
    throw MetadataError(token.place(),
                        shown(peek()) + " is no digit of base " + std::to_string(base));
  }
  return token;
}

uint64_t Lexer::digits(unsigned base, unsigned most) {
  uint64_t value = 0;
  for (unsigned i = 0; i < most && digit_value(peek()) < static_cast<int>(base); ++i) {
    value = value * base + static_cast<uint64_t>(digit_value(take()));
  }
  return value;
}

char Lexer::escape(const Token& token) {
  if (at_ >= text_.size()) throw MetadataError(token.place(), "the string does not end");
  const char c = peek();
  if (c >= '0' && c <= '7') return static_cast<char>(digits(8, 3));
  take();
  switch (c) {
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    case 'x':
      return static_cast<char>(digits(16, 2));
    default:
      return c;
  }
}

Token Lexer::string(Token token) {
  token.kind = TokenKind::string;
  take();
  while (at_ < text_.size() && peek() != '"') {
    const char c = take();
    if (c == '\n') break;
    token.text += c == '\\' ? escape(token) : c;
  }
  if (at_ >= text_.size() || peek() != '"') {
    throw MetadataError(token.place(), "the string does not end on its line");
  }
  take();
  return token;
}

Token Lexer::symbol(Token token) {
  token.kind = TokenKind::symbol;
  if (peek() == '.' && peek(1) == '.' && peek(2) == '.') {
    token.text = "...";
  } else if (peek() == ':' && peek(1) == '=') {
    token.text = ":=";
  } else if (std::string_view("{}()[]<>;:,.=-+*").find(peek()) != std::string_view::npos) {
    token.text = peek();
  } else {
    throw MetadataError(token.place(), shown(peek()) + " begins no token of TSDL");
  }
  for (size_t i = 0; i < token.text.size(); ++i) take();
  return token;
}

}  // namespace ctf::tsdl
