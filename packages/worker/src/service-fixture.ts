/** For tests: the work API and one session's events, as far as a worker uses them, on a real socket. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ServiceStub = AsyncDisposable & {
  url: string
  /** Requests as `METHOD what`, in order. */
  asked: string[]
  /** Time of each poll. */
  polls: number[]
  /** Items that polls get, one by one. */
  queue: { work: string; session: string }[]
  /** Number of waiting items in the stats; undefined when the stats fail. */
  depth: number | undefined
  /** The answer to a heartbeat; by default the lease continues. */
  beat: () => { status: number; body: object }
  session: { status: number; environment: string }
  /** The events of the session's log. */
  events: object[]
  /** Events that were posted to the session. */
  posted: object[]
  /** Reported reasons why the session could not start. */
  failures: string[]
  /** True when polls are refused as with a wrong key. */
  refusesPolls: boolean
  /** Resolves when a request was made this number of times. */
  until(what: string, times?: number): Promise<void>
}

export const secretFor = (session: string): string =>
  Buffer.from(JSON.stringify({ sessions_token: `token of ${session}` })).toString('base64url')

export const heartbeatAnswer = (state = 'active', extended = true) => ({
  status: 200,
  body: {
    type: 'work_heartbeat',
    last_heartbeat: `beat ${performance.now()}`,
    lease_extended: extended,
    state,
    ttl_seconds: 10,
  },
})

export const fencedAnswer = () => ({
  status: 412,
  body: { type: 'error', error: { type: 'invalid_request_error', message: 'another has it' } },
})

const nothing = { resources: [], agent: { skills: [], mcp_servers: [] } }

export async function stubService(): Promise<ServiceStub> {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let look = () => {}
  const stub: ServiceStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    polls: [],
    queue: [],
    depth: 0,
    beat: () => heartbeatAnswer(),
    session: { status: 200, environment: 'env_1' },
    events: [],
    posted: [],
    ...{ failures: [], refusesPolls: false },
    until: (what, times = 1) =>
      new Promise((resolve) => {
        look = () => {
          if (stub.asked.filter((each) => each === what).length >= times) resolve()
        }
        look()
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', stub.url)
    const what = `${request.method} ${pathname.replace(/^\/v1\/(environments\/\w+\/)?/, '')}`
    if (what === 'GET work/poll') stub.polls.push(performance.now())
    let text = ''
    for await (const piece of request.setEncoding('utf8') as AsyncIterable<string>) text += piece
    stub.asked.push(what)
    if (what.endsWith('/failure'))
      stub.failures.push((JSON.parse(text) as { message: string }).message)
    if (what.endsWith('events') && request.method === 'POST')
      stub.posted.push(...(JSON.parse(text) as { events: object[] }).events)
    if (what.endsWith('stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
    } else {
      const { status, body } = reply(what)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    look()
  }

  function reply(what: string): { status: number; body: object | null } {
    const [method = '', path = ''] = what.split(' ')
    const parts = path.split('/')
    const session = {
      id: parts[1],
      environment_id: stub.session.environment,
      status: 'running',
      ...nothing,
    }
    if (what === 'GET work/poll')
      return stub.refusesPolls
        ? { status: 401, body: { type: 'error', error: { type: 'authentication_error' } } }
        : { status: 200, body: handOut() }
    if (what === 'GET work/stats')
      return { status: stub.depth === undefined ? 503 : 200, body: { depth: stub.depth } }
    if (path.endsWith('/heartbeat')) return stub.beat()
    if (path.endsWith('/events'))
      return { status: 200, body: { data: method === 'GET' ? stub.events : [], next_page: null } }
    if (parts[1] === 'checkpoints') return { status: 200, body: { checkpoint: null, done: true } }
    if (parts[1] === 'outputs') return { status: 200, body: { largest: 0, published: null } }
    if (path.endsWith('/files')) return { status: 200, body: { revision: 0, files: [] } }
    if (path.endsWith('/authorities'))
      return { status: 200, body: { certificates: '', variables: {} } }
    if (parts[0] === 'sessions') return { status: stub.session.status, body: session }
    return { status: 200, body: { id: parts[1], type: 'work' } }
  }

  function handOut(): object | null {
    const next = stub.queue.shift()
    if (!next) return null
    const { work: id, session } = next
    return { id, type: 'work', data: { type: 'session', id: session }, secret: secretFor(session) }
  }
  return stub
}
