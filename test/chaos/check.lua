-- SPDX-License-Identifier: BSD-2-Clause
-- Every index of a space against a scan of its primary one.
local key_def = require('key_def')
local utf8 = require('utf8')

local check = {problems = 0}

function check.report(...)
    check.problems = check.problems + 1
    print('# BAD', ...)
end
local report = check.report

local function distinct_keys(row)
    local seen, count = {}, 0
    for _, element in ipairs(row[6].m) do
        if not seen[element.k] then
            seen[element.k] = true
            count = count + 1
        end
    end
    return count
end

local function distinct_strings(row)
    local seen = {}
    for _, element in ipairs(row[6].m) do
        local is_new = element.s ~= nil
        for _, s in ipairs(seen) do
            is_new = is_new and utf8.cmp(s, element.s) ~= 0
        end
        if is_new then
            table.insert(seen, element.s)
        end
    end
    return #seen
end

local function has_elements(row)
    return type(row[6]) == 'table' and type(row[6].m) == 'table'
end

-- How many entries a row has in an index, where that is not one.
local entries = {
    mk = function(row) return has_elements(row) and distinct_keys(row) or 0 end,
    mku = function(row) return has_elements(row) and distinct_keys(row) or 0 end,
    mks = function(row) return has_elements(row) and distinct_strings(row) or 0 end,
    fmm = function(row) return type(row[2]) == 'number' and row[2] % 4 or 0 end,
    numx = function(row) return row[4] ~= nil and 1 or 0 end,
}

-- Are its rows in the order of its parts, with no others between?
local function is_plain_tree(index)
    return index.type == 'TREE' and not index.func and not index.name:find('^mk')
end

local function expected_count(index, rows)
    local count_of = entries[index.name] or function() return 1 end
    local count = 0
    for _, row in pairs(rows) do
        count = count + count_of(row)
    end
    return count
end

local function check_scan(space, index, rows)
    local order = is_plain_tree(index) and key_def.new(index.parts)
    local count, previous = 0, nil
    for _, tuple in index:pairs(nil, {iterator = 'ALL'}) do
        count = count + 1
        local row = rows[tuple[1]]
        if row == nil or tostring(row) ~= tostring(tuple) then
            report(space.name, index.name, 'has another row', tuple, row)
        end
        if order and previous and order:compare(previous, tuple) > 0 then
            report(space.name, index.name, 'is out of order', previous, tuple)
        end
        previous = tuple
    end
    local expected = expected_count(index, rows)
    if count ~= expected then
        report(space.name, index.name, 'has', count, 'entries instead of', expected)
    end
    if entries[index.name] == nil and index.type ~= 'BITSET' and index:len() ~= expected then
        report(space.name, index.name, 'has the length', index:len(), 'instead of', expected)
    end
end

-- Are some of the rows found by their keys?
local function check_lookup(space, index, rows)
    local parts = key_def.new(index.parts)
    local tried = 0
    for id, row in pairs(rows) do
        if not (index.name == 'numx' and row[4] == nil) then
            tried = tried + 1
            local is_found = false
            for _, tuple in index:pairs(parts:extract_key(row), {iterator = 'EQ'}) do
                is_found = is_found or tuple[1] == id
            end
            if not is_found then
                report(space.name, index.name, 'does not find', row)
            end
        end
        if tried == 10 then
            return
        end
    end
end

-- A functional index can't be read yet between the two steps of its creation.
local function is_ready(space, index)
    return index.func == nil or box.space._func_index:get{space.id, index.id} ~= nil
end

function check.space(space)
    local primary = space.index[0]
    if primary == nil then
        return
    end
    local rows, count = {}, 0
    for _, tuple in primary:pairs(nil, {iterator = 'ALL'}) do
        rows[tuple[1]] = tuple
        count = count + 1
    end
    if count ~= primary:len() then
        report(space.name, 'has', count, 'rows and the length', primary:len())
    end
    for id, index in pairs(space.index) do
        if type(id) == 'number' and id > 0 and is_ready(space, index) then
            check_scan(space, index, rows)
            if is_plain_tree(index) then
                check_lookup(space, index, rows)
            end
        end
    end
end

-- Two spaces that are always changed together.
function check.pair(a, b)
    local rows_a, rows_b = a:select(), b:select()
    local differs = #rows_a ~= #rows_b
    for i = 1, #rows_a do
        differs = differs or tostring(rows_a[i]) ~= tostring(rows_b[i])
    end
    if differs then
        report(a.name, 'and', b.name, 'differ')
    end
end

return check
