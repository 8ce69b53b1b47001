-- SPDX-License-Identifier: BSD-2-Clause
-- yaml: texts that need quotes or not, and documents that may be broken, drawn from a seed.
local check = require('check')
local yaml = require('yaml')
local random = check.random(20060102)

local function pick(list)
    return list[1 + random(#list)]
end

local function draw(list, max)
    local out = {}
    for i = 1, 1 + random(max) do
        out[i] = pick(list)
    end
    return table.concat(out)
end

local atoms = {
    'a', 'b', '1', '0', '9', '-', '- ', '.', ':', ': ', '?', '? ', '#', ' #', ' ', '  ', '\n', '\n\n', '\t', '"', "'", '[', ']',
    '{', '}', ',', '&', '*', '!', '|', '>', '%', '@', '`', '~', '\\', '=', 'e', 'E', '+', '_', 'x', '0x', '0o', '0b', 'true',
    'false', 'yes', 'no', 'on', 'off', 'null', 'nan', '.nan', '.inf', 'inf', '---', '...', 'é', '中', '😀', '\r', '\r\n', '\1',
    '\127', '\xc2\x85', '\xe2\x80\xa8', '\xff', '<<', '2020-01-01', '12:30', '!!str', '!!binary', '\\n', '\\x', 'y', 'n', 'Y',
    'N', 'NULL', 'Null', 'True', 'TRUE', 'longword', 'some words',
}
local pieces = {
    '- ', '- - ', 'a: ', 'b: ', '? ', '\n', '\n  ', '\n- ', '\n  - ', '\na: ', '\n  b: ', '\n    ', '[', ']', '{', '}', ', ',
    '"x"', "'y'", '|\n', '>\n', '|-\n  ', '>+\n  ', '|2\n', '&a ', '*a', '!!str ', '!!binary ', '!!int ', '!!float ', '!!map ',
    '!!seq ', '!!bool ', '!!null ', '!tag ', '%YAML 1.1\n', '--- ', '---\n', '...\n', '# c\n', '1', '-1', '1.5', '0x1F', '0o17',
    '1e3', '.5', '5.', '.inf', '-.inf', '.NaN', 'nan', '~', 'null', 'true', 'no', 'yes', 'aGVsbG8=', '"\\x41\\u00e9\\n"',
    "'it''s'", '\t', ':', 'foo', 'bar baz', '<<: ', '1_000', '2001-12-14', '1:30', '+1', '-0', '00', '012', '08', '0b1',
    '18446744073709551615', '-9223372036854775808', '99999999999999999999', '"', "'", '%TAG ! tag:x,2000:\n', '\xff',
}

local comes_back = 0
for _ = 1, check.times(1500) do
    local text, document = draw(atoms, 5), draw(pieces, 14)
    local encoded = yaml.encode({text})
    check.values(check.show(text), encoded, yaml.encode(text), yaml.encode({[text] = text}), yaml.encode({{k = text}}),
                 tostring(box.tuple.new{text, {[text] = text}}))
    comes_back = comes_back + (yaml.decode(encoded)[1] == text and 1 or 0)
    check.call('as a document', yaml.decode, text)
    -- An alias to what is empty or null is refused by the reference.
    if not document:find('*', 1, true) then
        check.call(check.show(document), yaml.decode, document)
    end
end
check.values('come back', comes_back == check.times(1500))
check.finish()
