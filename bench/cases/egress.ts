/**
 * Egress: the gate of a sandbox and the MCP proxy, towards an upstream over TLS on the loopback in its own process. The
 * gate belongs to a real session with a running sandbox; the client speaks to the gate's socket as the sandbox's bridge
 * does. Each call looks its credential up. The use of the credential is on disk before the gate passes on the head of
 * the answer.
 */
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import type { Line } from '../line.ts'
import { direct, plain, throughGate } from '../line.ts'
import type { Outside } from './outside.ts'
import { outside, proxyRequest, sessionWith, vaultOf } from './outside.ts'
import { discovery, refreshes } from './servers.ts'
import type { BenchSetup } from './setup.ts'

const rounds = 5
const clients = 16
const large = 100_000_000

export async function* egress(
  dataDir: string,
  env: Record<string, string>,
  setUp: (base: string) => Promise<BenchSetup>,
): AsyncGenerator<Figure> {
  const setup = await outside(dataDir, env, setUp)
  try {
    const proxied = await requestThroughProxy(setup)
    yield* latencies(setup, proxied)
    yield* rates(setup, proxied)
    yield* bodies(setup)
    yield* refreshes(setup)
    yield* discovery(setup)
  } finally {
    await setup.close()
  }
}

async function requestThroughProxy({ setup, upstream, server }: Outside): Promise<string> {
  const url = `${upstream.url}/rpc`
  const auth = { type: 'static_bearer', token: 'another of the bench', mcp_server_url: url }
  const vaults = [await vaultOf(setup, auth)]
  return proxyRequest(server.base, await sessionWith(setup, { up: url }, { vaults }), 'up')
}

const get = ({ port }: Outside['upstream'], path = '/small') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`

const opened = (count: number, open: () => Promise<Line>) =>
  Promise.all(Array.from({ length: count }, open))

/** One connection of each kind. The connections take turns, so that other load on the machine affects all kinds. */
async function* latencies(setup: Outside, proxied: string): AsyncGenerator<Figure> {
  const { upstream, gate, server } = setup
  const near = await direct(upstream)
  const ways = {
    intercepted: { line: await throughGate(gate, upstream), request: get(upstream) },
    'mcp-proxy': { line: await plain(server.base), request: proxied },
  }
  const added = Object.entries(ways).map(([what, way]) => ({
    ...way,
    what,
    usual: [] as number[],
    slow: [] as number[],
  }))
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const alone: number[] = []
    const times = added.map((): number[] => [])
    for (let n = 0; n < 500; n++) {
      alone.push(await timed(near, get(upstream)))
      for (const [i, { line, request }] of added.entries()) {
        times[i]?.push(await timed(line, request))
      }
    }
    for (const [i, { usual, slow }] of added.entries()) {
      if (round === 0) continue
      usual.push(median(times[i] ?? []) - median(alone))
      slow.push(nearly(times[i] ?? [], 0.99) - median(alone))
    }
  }
  near.close()
  for (const { line, what, usual, slow } of added) {
    line.close()
    yield { what: `${what} request, added latency`, value: median(usual), unit: 'ms', goal: 1 }
    yield { what: `${what} request, added, p99`, value: median(slow), unit: 'ms', goal: 5 }
  }
}

async function timed(line: Line, request: string): Promise<number> {
  const began = performance.now()
  await line.ask(request)
  return performance.now() - began
}

const nearly = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN

async function* rates(setup: Outside, proxied: string): AsyncGenerator<Figure> {
  const { upstream, gate, server } = setup
  const ways = {
    'straight to the upstream, for comparison': {
      lines: await opened(clients, () => direct(upstream)),
      request: get(upstream),
    },
    'through the intercepting proxy': {
      lines: await opened(clients, () => throughGate(gate, upstream)),
      request: get(upstream),
    },
    'through the mcp-proxy': {
      lines: await opened(clients, () => plain(server.base)),
      request: proxied,
    },
  }
  const found = Object.entries(ways).map(([what, way]) => ({ what, ...way, rates: [] as number[] }))
  for (let round = 0; round <= rounds; round++) {
    for (const { lines, request, rates: taken } of found) {
      const rate = await rateOf(lines, request)
      if (round > 0) taken.push(rate)
    }
  }
  for (const [i, { what, lines, rates: taken }] of found.entries()) {
    for (const line of lines) line.close()
    const figure = { what: `16 clients ${what}`, value: median(taken), unit: '/s', rate: true }
    yield i === 0 ? figure : { ...figure, goal: 4_000 }
  }
}

async function rateOf(lines: readonly Line[], request: string): Promise<number> {
  const began = performance.now()
  const until = began + 2_000
  let count = 0
  await Promise.all(
    lines.map(async (line) => {
      while (performance.now() < until) {
        await line.ask(request)
        count++
      }
    }),
  )
  return (count / (performance.now() - began)) * 1000
}

/** Large bodies in each direction. The growth of the server's memory is measured over all of them together. */
async function* bodies({ upstream, gate, tunnel, server }: Outside): AsyncGenerator<Figure> {
  const read = await throughGate(gate, upstream)
  const unread = await throughGate(tunnel, upstream)
  const down = get(upstream, `/big/${large}`)
  const up = `POST /rpc HTTP/1.1\r\nHost: localhost:${upstream.port}\r\nContent-Length: ${large}\r\n\r\n`
  const ways = [
    { what: '100 MB down, intercepted', goal: 120, pass: () => read.ask(down) },
    { what: '100 MB up, intercepted', goal: 120, pass: () => read.send(up, large) },
    { what: '100 MB down, tunnelled', goal: 200, pass: () => unread.ask(down) },
    { what: '100 MB up, tunnelled', goal: 200, pass: () => unread.send(up, large) },
  ].map((way) => ({ ...way, rates: [] as number[] }))
  let before = 0
  let most = 0
  const sampling = setInterval(() => (most = Math.max(most, server.rss())), 20)
  for (let round = 0; round <= rounds; round++) {
    for (const { pass, rates: taken } of ways) {
      const began = performance.now()
      await pass()
      if (round > 0) taken.push(large / 1e6 / ((performance.now() - began) / 1000))
    }
    if (round === 0) most = before = server.rss()
  }
  clearInterval(sampling)
  read.close()
  unread.close()
  for (const { what, goal, rates: taken } of ways) {
    yield { what, value: median(taken), unit: 'MB/s', goal, rate: true }
  }
  const value = (most - before) / 1e6
  yield { what: `memory, at most, after the first 400 of 2,400 MB`, value, unit: 'MB' }
}
