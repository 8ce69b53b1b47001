-- SPDX-License-Identifier: BSD-2-Clause
-- The server of the crash tests. arg[1]: port, arg[2]: wal_mode, arg[3]: "standby" for a hot
-- standby, "force" for force_recovery. Started again and again in one directory.
box.cfg{
    listen = '127.0.0.1:' .. arg[1],
    log_level = 5,
    wal_mode = arg[2] or 'write',
    hot_standby = arg[3] == 'standby',
    force_recovery = arg[3] == 'force',
    memtx_memory = 512 * 1024 * 1024,
    wal_max_size = 256 * 1024,
    checkpoint_count = 2,
    checkpoint_interval = 0,
}
box.once('schema', function()
    box.schema.user.grant('guest', 'read,write,execute', 'universe')
    -- One row a request.
    local rows = box.schema.space.create('rows', {id = 512})
    rows:create_index('pk')
    rows:create_index('text', {type = 'hash', parts = {{2, 'string'}}})
    -- Several rows a transaction: {transaction, row, rows in all}.
    local parts = box.schema.space.create('parts', {id = 513})
    parts:create_index('pk', {parts = {{1, 'unsigned'}, {2, 'unsigned'}}})
    local counter = box.schema.space.create('counter', {id = 514})
    counter:create_index('pk')
    counter:insert{1, 0}
end)

-- A transaction of n rows that also counts itself.
function put_parts(id, n)
    box.begin()
    for i = 1, n do
        box.space.parts:insert{id, i, n, ('x'):rep(id % 100)}
    end
    box.space.counter:update(1, {{'+', 2, 1}})
    box.commit()
    return id
end

-- A space that comes later.
function make_late()
    box.session.su('admin', function()
        local late = box.schema.space.create('late', {id = 515})
        late:create_index('pk')
        late:insert{1}
    end)
end

-- Rows that are not as they were written: numbers from `from` on are looked at.
function check_rows(from)
    local bad, last = {}, 0
    for _, t in box.space.rows:pairs({from}, {iterator = 'GE'}) do
        last = t[1]
        local twin = box.space.rows.index.text:get(t[2])
        if t[2] ~= 'row ' .. t[1] or t[3] ~= t[1] * 7 or twin == nil or twin[1] ~= t[1] then
            table.insert(bad, t[1])
        end
    end
    return bad, last, box.space.rows:len(), box.space.rows.index.text:len()
end

-- Transactions that are not whole, all that are there, and the counter.
function check_parts()
    local bad, seen, count = {}, {}, 0
    for _, t in box.space.parts:pairs() do
        local id = t[1]
        seen[id] = (seen[id] or 0) + 1
        if t[4] ~= ('x'):rep(id % 100) then
            table.insert(bad, id)
        end
    end
    local ids = {}
    for id, n in pairs(seen) do
        count = count + 1
        table.insert(ids, id)
        if n ~= box.space.parts:get{id, 1}[3] then
            table.insert(bad, id)
        end
    end
    return bad, ids, box.space.counter:get(1)[2] == count
end

print('ready')
io.stdout:flush()
