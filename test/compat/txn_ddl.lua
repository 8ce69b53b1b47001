-- SPDX-License-Identifier: BSD-2-Clause
-- Schema changes inside transactions.
local check = require('check')
box.cfg{}
check [[
box.begin() box.schema.space.create('a') box.rollback()
box.space.a
box.begin() a = box.schema.space.create('a') a:create_index('pk') box.commit()
box.space.a ~= nil, box.space.a.index.pk ~= nil
box.space.a:insert{1}
box.begin() box.space.a:drop() box.rollback()
box.space.a ~= nil
box.space.a:select{}
box.begin() box.space.a:insert{2} box.space.a:truncate() box.commit()
box.space.a:select{}
box.is_in_txn()
]]
if box.is_in_txn() then box.rollback() end

-- An index that keeps its order need not be built, which a transaction cannot wait for.
local COLLATIONS = {'none', 'binary', 'unicode', 'unicode_ci'}
for from = 0, #COLLATIONS do
    for to = 0, #COLLATIONS do
        local s = box.schema.space.create('s')
        s:create_index('pk')
        s:create_index('i', {parts = {{2, 'string', collation = COLLATIONS[from]}}})
        s:insert{1, 'a'}
        s:insert{2, 'b'}
        check.call(('%s to %s'):format(COLLATIONS[from], COLLATIONS[to]), function()
            box.begin()
            s:insert{3, 'c'}
            s.index.i:alter{parts = {{2, 'string', collation = COLLATIONS[to]}}}
            box.commit()
            return s.index.i:select{}
        end)
        if box.is_in_txn() then
            box.rollback()
        end
        s:drop()
    end
end

-- Nor where the primary key, which decides of equal keys anyway, comes to the parts or goes from them.
for _, unique in ipairs{false, true} do
    for _, parts in ipairs{{{{2, 'string'}}, {{2, 'string'}, {1, 'unsigned'}}},
                           {{{2, 'string'}, {1, 'unsigned'}}, {{2, 'string'}}},
                           {{{2, 'string'}, {1, 'unsigned'}}, {{1, 'unsigned'}, {2, 'string'}}},
                           {{{2, 'string'}}, {{2, 'string'}, {3, 'unsigned'}}}} do
        local s = box.schema.space.create('s')
        s:create_index('pk')
        s:create_index('i', {parts = parts[1], unique = unique})
        s:insert{1, 'a', 1}
        s:insert{2, 'b', 2}
        check.call(('%s %s to %s'):format(unique, check.show(parts[1]), check.show(parts[2])), function()
            box.begin()
            s:insert{3, 'c', 3}
            s.index.i:alter{parts = parts[2]}
            box.commit()
            return s.index.i:select{}
        end)
        if box.is_in_txn() then
            box.rollback()
        end
        s:drop()
    end
end
check.finish()
