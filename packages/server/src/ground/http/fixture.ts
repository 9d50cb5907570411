/** For tests: routes on a real server, and the parts of a request that `fetch` cannot spell. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { jsonLog } from '@steward/base/log.ts'
import { unauthorized } from '../core/errors.ts'
import { createShare } from '../core/fairness/share.ts'
import type { Clock } from '@steward/base/time.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Database, Databases } from '../database/database.ts'
import { oneDatabase } from '../database/database.ts'
import { mountRoutes } from './mount-routes.ts'
import { createOpenAnswers } from './open-answers.ts'
import type { Principal } from './principal.ts'
import type { Route } from './route.ts'
import { startHttpServer, serverTimeouts } from './server.ts'
import type { Streams } from './streams.ts'
import { createStreams } from './streams.ts'

const callers: Record<string, Principal> = {
  admin: { kind: 'workspace', tenant: 'wrkspc_test', keyId: 'apikey_1', admin: true },
  workspace: { kind: 'workspace', tenant: 'wrkspc_test', keyId: 'apikey_2', admin: false },
  environment: {
    kind: 'environment',
    tenant: 'wrkspc_test',
    keyId: 'apikey_3',
    environmentId: 'env_1',
    reach: 'work',
  },
}

const absent = (): never => {
  throw new Error('the routes of this test have no database')
}
/** For routes that use no database. */
export const noDatabase: Database = {
  dialect: 'sqlite',
  get read() {
    return absent()
  },
  get owners() {
    return absent()
  },
  write: absent,
  writeStatement: absent,
  close: absent,
}

/** Serves the routes. The keys of callers are the names of their kinds. */
export async function serveRoutes(
  routes: Route[],
  {
    clock = systemClock,
    limits = serverTimeouts,
    streams = createStreams(createShare({ total: 1_000, percent: 100 })),
    databases = oneDatabase(noDatabase),
    connections = 1_000,
  }: {
    clock?: Clock
    limits?: typeof serverTimeouts
    streams?: Streams
    databases?: Databases
    connections?: number
  } = {},
) {
  const logged: string[] = []
  const log = jsonLog((line) => logged.push(line))
  const app = mountRoutes(routes, {
    databases,
    log,
    clock,
    streams,
    openAnswers: createOpenAnswers(),
    withinClaim: async () => false,
    claimByKey: async () => undefined,
    authenticate: async (header) => {
      const found = callers[header('x-api-key') ?? '']
      if (!found) throw unauthorized('no such key')
      return found
    },
  })
  const { server, port } = await startHttpServer(
    app,
    { host: '127.0.0.1', port: 0, callerConnections: connections },
    limits,
  )
  return {
    port,
    logged,
    url: `http://127.0.0.1:${port}`,
    /** The number of open connections. */
    connections: promisify(server.getConnections.bind(server)),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Opens a socket and sends exactly this text. */
export async function dialServer(port: number, text: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  await once(socket, 'connect')
  socket.write(text)
  return socket
}
