-- SPDX-License-Identifier: BSD-2-Clause
-- A small bookshop: what `make run` starts.
--
-- It keeps books and orders, sells through a stored procedure, and lets a client in
-- with a password. It can be started again and again in the same directory: what is
-- there already stays.
--
--   BOOKSHOP_LISTEN   where to listen (127.0.0.1:3301)
--   BOOKSHOP_PASSWORD the password of the user `clerk` (secret)

box.cfg{listen = os.getenv('BOOKSHOP_LISTEN') or '127.0.0.1:3301'}

-- Spaces are tables. A format names the fields and checks their types.
local books = box.schema.space.create('books', {
    if_not_exists = true,
    format = {
        {'id', 'unsigned'},
        {'title', 'string'},
        {'author', 'string'},
        {'price', 'unsigned'}, -- in cents
        {'stock', 'integer'},
    },
})
-- The first index is the primary key; others find rows by other fields.
books:create_index('id', {parts = {'id'}, if_not_exists = true})
books:create_index('author', {parts = {'author', 'title'}, unique = false, if_not_exists = true})

local orders = box.schema.space.create('orders', {
    if_not_exists = true,
    format = {
        {'id', 'unsigned'},
        {'book', 'unsigned'},
        {'quantity', 'unsigned'},
        {'customer', 'string'},
        {'total', 'unsigned'},
    },
})
orders:create_index('id', {parts = {'id'}, if_not_exists = true})
orders:create_index('customer', {parts = {'customer'}, unique = false, if_not_exists = true})

if books:len() == 0 then
    books:insert{1, 'The Left Hand of Darkness', 'Ursula K. Le Guin', 1299, 10}
    books:insert{2, 'The Dispossessed', 'Ursula K. Le Guin', 1199, 3}
    books:insert{3, 'Solaris', 'Stanislaw Lem', 999, 5}
    books:insert{4, 'Roadside Picnic', 'Arkady and Boris Strugatsky', 1099, 0}
end

-- Stored procedures are plain functions, reached by their name.
bookshop = {}

function bookshop.by_author(author)
    return books.index.author:select(author)
end

-- A transaction: both changes happen, or neither. An error undoes it and reaches the client.
function bookshop.buy(book_id, quantity, customer)
    return box.atomic(function()
        local book = books:get(book_id)
        if book == nil then
            box.error{code = 1001, reason = 'There is no book ' .. book_id}
        end
        if book.stock < quantity then
            local reason = ('Only %d of %s left'):format(book.stock, book.title)
            box.error{code = 1002, reason = reason}
        end
        books:update(book_id, {{'-', 'stock', quantity}})
        return orders:auto_increment{book_id, quantity, customer, quantity * book.price}
    end)
end

-- Who may do what. Without a grant a user may do nothing; clients that do not say who they
-- are come in as `guest`, who may look at the books here and no more.
box.schema.user.create('clerk', {if_not_exists = true})
-- Of the password a digest is kept. It is set where another one is there: a start that has
-- nothing to change writes nothing.
local password = os.getenv('BOOKSHOP_PASSWORD') or 'secret'
local clerk = box.space._user.index.name:get('clerk')
if clerk.auth['chap-sha1'] ~= box.schema.user.password(password) then
    box.schema.user.passwd('clerk', password)
end
box.schema.user.grant('clerk', 'read,write', 'space', 'books', {if_not_exists = true})
box.schema.user.grant('clerk', 'read,write', 'space', 'orders', {if_not_exists = true})
box.schema.user.grant('guest', 'read', 'space', 'books', {if_not_exists = true})
for _, name in ipairs{'bookshop.by_author', 'bookshop.buy'} do
    box.schema.func.create(name, {if_not_exists = true})
    box.schema.user.grant('clerk', 'execute', 'function', name, {if_not_exists = true})
end

require('log').info('the bookshop is open at %s', box.cfg.listen)
