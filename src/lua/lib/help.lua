-- SPDX-License-Identifier: BSD-2-Clause
--
-- The module `help`, and the globals `help` and `tutorial` of the console.
local HELP = {
    "docs/index.md and docs/modules/ say how to use tarn; the manual of Tarantool serves for the rest.",
    "\\help lists the commands of the console; tutorial() begins a short tour.",
}

-- Each page says what to type, and what it does.
local PAGES = {
    [[1. Start.

    box.cfg{}

starts the database in the current directory. Nothing else of `box` is there before.
tutorial('next') goes on, tutorial('prev') back, tutorial(2) to a page.]],
    [[2. A space is a table, a tuple is a row, and every space needs an index.

    books = box.schema.space.create('books', {format = {{'id', 'unsigned'}, {'title', 'string'}}})
    books:create_index('primary')
    books:insert{1, 'The Dispossessed'}
    books:get(1).title]],
    [[3. More rows, other orders.

    books:insert{2, 'Solaris'}
    books:create_index('title', {parts = {'title'}})
    books.index.title:select()
    books:update(2, {{'=', 'title', 'Eden'}})
    books:delete(1)]],
    [[4. Several changes as one.

    box.atomic(function() books:insert{3, 'Ubik'} books:insert{4, 'Valis'} end)
    box.begin() books:delete(3) box.rollback()
    books:count()]],
    [[5. Code beside the data: a stored procedure, and what it costs.

    function title_of(id) local b = books:get(id) return b and b.title end
    box.schema.func.create('title_of')
    title_of(4)
    box.stat.procedures()]],
    [[6. Others, over the network.

    box.cfg{listen = '127.0.0.1:3301'}
    box.schema.user.create('ann', {password = 'secret'})
    box.schema.user.grant('ann', 'read,write', 'space', 'books')
    require('net.box').connect('ann:secret@127.0.0.1:3301').space.books:select()

That is the end. docs/index.md has more.]],
}

local page = 0

local function tutorial(where)
    if where == nil or where == 'start' then
        page = 1
    elseif where == 'next' then
        page = math.min(page + 1, #PAGES)
    elseif where == 'prev' then
        page = math.max(page - 1, 1)
    elseif type(where) == 'number' and PAGES[where] ~= nil then
        page = where
    else
        error(("Usage: tutorial(['start' | 'next' | 'prev' | 1 .. %d])"):format(#PAGES), 0)
    end
    return PAGES[page]
end

local help = setmetatable({}, {
    __call = function() return HELP end,
    __serialize = function() return HELP end,
})

local tour = setmetatable({}, {
    __call = function(_, where) return tutorial(where) end,
    __serialize = function() return PAGES[1] end,
})

rawset(_G, 'help', help)
rawset(_G, 'tutorial', tour)

return {help = help, tutorial = tour}
