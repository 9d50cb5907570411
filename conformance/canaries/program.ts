/** The server, with every name connected to the upstream at OUTSIDE_PORT. */
import { connect } from 'node:net'
import { readConfig } from '@steward/server/ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { connectTo } from '@steward/server/engine/egress/fixture.ts'
import { startService } from '@steward/server/start/start.ts'

const read = readConfig(process.env)
if (!read.ok) throw new Error(read.problems.join('\n'))
const port = Number(process.env['OUTSIDE_PORT'])
const log = jsonLog((line) => process.stderr.write(line), 'debug')
const outside = { connect: connectTo({ port }), dial: async () => connect(port, '127.0.0.1') }
const running = await startService(read.config, log, { nameOverride: outside })
log.info('listening', { url: `http://127.0.0.1:${running.port}` })
