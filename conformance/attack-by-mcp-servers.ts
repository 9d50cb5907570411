import { setTimeout as sleep } from 'node:timers/promises'
import { startHostileServers } from './hostile-mcp-server.ts'
import type { ServiceClients } from './service.ts'
import { newSession, post } from './turns.ts'

/**
 * Runs turns with hostile MCP servers, one session for each, and posts to each session again and again until the signal.
 * Calls `took` when each server was asked.
 */
export async function attackByMcpServers(
  port: number,
  attacker: ServiceClients,
  { until, took, names }: { until: AbortSignal; took: () => void; names: readonly string[] },
): Promise<void> {
  const servers = await startHostileServers(port)
  try {
    const sessions = await Promise.all(
      names.map((name) =>
        newSession(attacker, {
          mcp_servers: [{ type: 'url', name: 's', url: `http://127.0.0.1:${port}/${name}` }],
        }),
      ),
    )
    const postAll = async () => {
      for (const session of sessions) await post(attacker, session, 'call mcp__s__one {}')
    }
    await postAll()
    await servers.asked(sessions.length)
    took()
    while (!until.aborted) {
      await postAll().catch(() => {})
      await sleep(100)
    }
  } finally {
    await servers.close()
  }
}
