-- SPDX-License-Identifier: BSD-2-Clause
-- csv: reading, in pieces too, and writing; then random texts.
local check = require('check')
csv = require('csv')
for _, text in ipairs({
    'a,b\n', 'a,b', '"a,b",c\n', '"a""b",c\n', 'a,,b\n\nc\n', '\n', '', ' a , b \n', '"a\nb",c\r\nd\r\n',
    'a"b,c\n', '"a"b,c\n', '"unclosed,a\n', 'a,"b\n', 'a\rb\n', '\r\n', 'a,\n', ',\n', "a,'b'\n",
    '"a" ,b\n', ' "a",b\n', '\0,b\n', 'a,b\n"c', 'a b', '"a "', 'x"y,"z\n', 'a""b\n', '""\n', '""""\n',
    '"a""\n', '"""a"\n', 'x"a""b"y\n', '\ta\t,b\n', '"a" "b"\n', '  \n', ' \n\n', 'a\n\n\nb', '\n\na',
    'a,b\n,', '" "\n', '"a\r\nb"\n', 'a\r\n\r\nb', 'a\n\rb', 'a\r\rb', '"', 'x\n"', 'x\n"abc', 'a"b"',
    'a"b', 'x\na"b\nc\n', ' ', 'a, ', ' "', '"a"x"b"\n', '"a,"",b"\n', 'a"",b\n', '"a\0b"\n', '"a"\n"b',
    'a,b,c\n"d"e"f\ng"', 'a  b , c\n', '" a " , b\n', 'a" b "c\n', '" " \n', 'x " y " z\n',
}) do
    check.call(('load %q'):format(text), csv.load, text)
end

function reader(text)
    return {
        pos = 1, sizes = {},
        read = function(self, size)
            table.insert(self.sizes, size)
            self.pos = self.pos + size
            return text:sub(self.pos - size, self.pos - 1)
        end
    }
end
function writer()
    return {out = {}, write = function(self, text) table.insert(self.out, text) end}
end
function list(...)
    local all = {}
    for i, row in csv.iterate(...) do
        all[i] = row
    end
    return all
end
-- Texts of the characters that matter, by a generator that is the same everywhere.
local draw = check.random(1)
function random(n)
    return draw(n) + 1
end
function random_text(alphabet)
    local out = {}
    for i = 1, random(14) do
        local k = random(#alphabet)
        out[i] = alphabet:sub(k, k)
    end
    return table.concat(out)
end
function write_random()
    local rows = {}
    for i = 1, random(3) do
        rows[i] = {}
        for j = 1, random(3) do
            rows[i][j] = random_text('ab,;"\' \r\n')
        end
    end
    return csv.dump(rows)
end
check [[
csv.load('a\nb\nc\n', {skip_head_lines = 1}), csv.load('a\nb\n', {skip_head_lines = 5})
csv.load('a;b\n', {delimiter = ';'}), csv.load('a;;b\n', {delimiter = ';;'}), csv.load('a1b\n', {delimiter = 1})
csv.load("'a,b',c\n", {quote_char = "'"}), csv.load('a\n', {foo = 1})
csv.load('abc,def\nghi,jkl\n', {chunk_size = 1})
r = reader('a,b\nc,d\n')
csv.load(r, {chunk_size = 3}), r.sizes
csv.load(reader('"a""b"\r\n"c\n"'), {chunk_size = 1})
csv.load({})
csv.load({read = function() return nil end})
list('a,b\nc,d\ne', {skip_head_lines = 1}), list('')
csv.load(' a  b \n c | d \n\n ', {delimiter = ' '}), csv.load('\ta\t\tb', {delimiter = '\t'})
#csv.load(('x'):rep(5000) .. ',1\n')[1][1]
csv.dump({{1, 2}, {'a', 'b'}}), csv.dump({'a', 'b'}), csv.dump({}), csv.dump({{}}), csv.dump({1, 2, 3})
csv.dump({{'a,b', 'c"d', 'e\nf', '', ' x ', "x'y", '\r'}}), csv.dump({{1, nil, 3}}), csv.dump({{true, 1.5}})
csv.dump({{1e100, 2^53, -0.5, 1LL}}), csv.dump({{'a', 'b'}, {}}), csv.dump({'a,b', 'c'})
csv.dump({{'a;b', 'c,d', "e'f"}}, {delimiter = ';', quote_char = "'"}), csv.dump({{1, 2}}, {delimiter = 1, quote_char = 2})
w = writer()
csv.dump({{1, 2}, {3, 4}}, {}, w)
w.out
list({})
list({read = 5})
list(reader('a,b\nc,d'), {chunk_size = 1, skip_head_lines = 1}), list('a;b', {delimiter = ';'})
csv.dump()
csv.dump('abc')
csv.dump({{1, 2}}, {}, {})
csv.dump({{1}, 5})
]]
check.refused [[
list({read = function() return 5 end})
list('a', 5)
]]
for i = 1, check.times(400) do
    local text = random_text('ab,," \r\n')
    check.call(('load %q'):format(text), csv.load, text)
end
for i = 1, check.times(200) do
    check.call('dump', write_random)
end
check.finish()
