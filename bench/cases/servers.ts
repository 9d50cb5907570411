/** MCP servers: renewals of expired tokens under many calls at once, and a silent server among others. */
import { watch } from '../client.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'
import { plain } from '../line.ts'
import type { Outside } from './outside.ts'
import { proxyRequest, sessionWith, vaultOf } from './outside.ts'
import { message } from './setup.ts'

const calls = 100
const runs = 3

/**
 * Each of two servers gets half of the calls when the database allows two processes. Each run has its own credential.
 */
export async function* refreshes(outside: Outside): AsyncGenerator<Figure> {
  const { setup, upstream, server } = outside
  const second = await outside.another()
  const bases = second ? [server.base, second.base] : [server.base]
  const counts: number[] = []
  const times: number[] = []
  for (let run = 0; run < 2 * runs; run++) {
    const name = `grant-${run}`
    const url = `${upstream.url}/grants/${name}`
    const vault = await vaultOf(setup, {
      type: 'mcp_oauth',
      mcp_server_url: url,
      access_token: 'one that has run out',
      // In half of the runs the credential's expiry is known and near. In the other half the upstream refuses the
      // token.
      ...(run % 2 === 0 ? { expires_at: new Date(Date.now() + 10_000).toISOString() } : {}),
      refresh: {
        client_id: 'bench',
        refresh_token: `${name}.0`,
        token_endpoint: `${upstream.url}/token`,
      },
    })
    const session = await sessionWith(setup, { up: url }, { vaults: [vault] })
    const lines = await Promise.all(
      Array.from({ length: calls }, (_, n) => bases[n % bases.length] ?? '').map(async (base) => ({
        line: await plain(base),
        request: proxyRequest(base, session, 'up'),
      })),
    )
    const began = performance.now()
    await Promise.all(lines.map(({ line, request }) => line.ask(request)))
    times.push(performance.now() - began)
    for (const { line } of lines) line.close()
    counts.push((await upstream.seen()).renewed[name] ?? 0)
  }
  await second?.stop()
  const where = second ? 'two processes' : 'one process'
  const what = `${calls} calls at once on an expired token, ${where}`
  yield { what: `${what}: most refreshes`, value: Math.max(...counts), unit: '', goal: 1 }
  yield { what: `${what}: until the last answer`, value: median(times), unit: 'ms' }
}

/**
 * Discovery of twenty servers, of which the first is silent and runs into its time limit. The model calls a tool of the
 * last server. The runs are concurrent.
 */
export async function* discovery({ setup, upstream }: Outside): AsyncGenerator<Figure> {
  const others = Array.from({ length: 19 }, (_, n): [string, string] => [
    `s${n + 1}`,
    `${upstream.url}/mcp/${n + 1}`,
  ])
  const usable = await Promise.all(
    Array.from({ length: runs }, async () => {
      const servers = { s0: `${upstream.url}/hang`, ...Object.fromEntries(others) }
      const session = await sessionWith(setup, servers, { model: 'mcp' })
      const stream = await watch(setup.base, session)
      const result = stream.until('agent.mcp_tool_result')
      const idle = stream.until('session.status_idle')
      const began = performance.now()
      await setup.call.post(`/v1/sessions/${session}/events`, message())
      const { at, data } = await result
      if (data['is_error']) throw new Error(JSON.stringify(data))
      await idle
      await stream.close()
      return (at - began) / 1000
    }),
  )
  yield {
    what: '20 MCP servers, one silent: a tool of another has answered',
    value: median(usable),
    unit: 's',
  }
  let patience: number[] = []
  while (patience.length < runs) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    patience = (await upstream.seen()).patience
  }
  yield { what: 'the silent one is given up', value: median(patience) / 1000, unit: 's', goal: 15 }
}
