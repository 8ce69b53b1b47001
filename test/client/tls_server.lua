-- SPDX-License-Identifier: BSD-2-Clause
-- The server of tls.py: begins on a Unix socket, arg[1], where it is told what to listen on.
box.cfg{listen = arg[1], log_level = 4}
box.schema.user.grant('guest', 'super')
function echo(...) return ... end
-- Listens there too and returns the new address.
function listen(params, uri)
    box.cfg{listen = {arg[1], {uri = uri or '127.0.0.1:0', params = params}}}
    return box.info.listen[2]
end
-- Connects by net.box: what a call says, or what went wrong.
function connect(uri, params)
    local ok, c = pcall(require('net.box').connect, {uri = uri, params = params}, {connect_timeout = 5})
    if not ok then return tostring(c) end
    local out = c.error or #c:call('echo', {('x'):rep(3000000)})
    c:close()
    return out
end
print('ready')
io.stdout:flush()
