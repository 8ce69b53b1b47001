-- SPDX-License-Identifier: BSD-2-Clause
-- internal.argparse: options of each kind, given well and badly.
local check = require('check')
parse = require('internal.argparse').parse
check [[
parse{'--aa', 'b', '-c', '--dd=5', 'x'}
parse{'-abc'}
parse({'--aa', '1'}, {{'aa', 'number'}})
parse({'--aa', 'x'}, {{'aa', 'number'}})
parse({'--aa'}, {{'aa', 'number'}})
parse({'--aa'}, {{'aa', 'boolean'}})
parse({'--aa', 'true'}, {{'aa', 'boolean'}})
parse({'--aa=true'}, {{'aa', 'boolean'}})
parse({'--aa', '1', '--aa', '2', '3'}, {{'aa', 'number+'}})
parse({'--aa', '1', '--aa', '2'}, {{'aa', 'number'}})
parse({'--bb'}, {{'aa', 'number'}})
parse({'--cc', '--dd'}, {'aa', 'bb'})
parse{'--aa=1', '--aa=2'}
parse({'-a', '5'}, {{'a', 'number'}})
parse({'--aa', '1'}, {'aa'})
parse{'--', '--aa'}
parse{'---aa'}
parse({'--aa', '1'}, {{'aa', 'foo'}})
parse({'--aa'}, {{'aa', 'string'}})
parse({'--aa=', ''}, {{'aa', 'string'}})
parse{'--aa', '-b'}
parse({'--aa', '-b'}, {{'aa', 'string'}})
parse{'--a-b=1'}
parse({'--aa', 'b'}, {{'aa', 'string?'}})
parse{'-n=5', 'x'}
parse{'-h', '--help'}
parse{'-a', 'b'}
parse{'-a1'}
parse{'--1a'}
parse{'--aa_b', '--aa-c'}
parse{'--aa.b'}
parse{'--aa=b=c', 'a=b', '', '-'}
parse({'--aa', '--aa'}, {{'aa', 'boolean+'}})
parse({'--aa=', '--bb'}, {{'aa', 'string+'}, 'bb'})
parse({'--aa=0x10'}, {{'aa', 'number'}})
parse{'--aa=x', '--aa'}
parse({'--aa=x', '--aa=y'}, {{'aa', 'string'}})
parse{}
]]
check.finish()
