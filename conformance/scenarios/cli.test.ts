import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

describe('programs of known services', () => {
  for (const database of scenarioDatabases(import.meta.filename)) {
    verifies(
      ['credentials/match/cli', 'credentials/type/cap-cli'],
      `are signed in at their hosts alone, in the form of each, on ${database}`,
      async () => {
        await using hosts = await mcpHosts()
        const token = `canary-${crypto.randomUUID()}`
        for (const host of ['api.github.com', 'github.com', 'other.example']) {
          hosts.set(host, () => new Response('hello', { status: 200 }))
        }
        const service = await boot(database, { overrides: { nameOverride: hosts.outside } })
        const vault = await vaultOf(service, { type: 'cap_cli', cli_id: 'gh', token })
        const session = await sessionOf(service, {
          tools: [{ type: 'agent_toolset_20260401' }],
          vault_ids: [vault],
        })
        const run = async (command: string) =>
          textOf(only(await turn(service, session, `run: ${command}`), 'agent.tool_result')).trim()
        const placeholder = await run('echo "$GH_TOKEN"')
        assert.ok(placeholder.length > 10 && !placeholder.includes(token))
        const signed = 'curl -sk -m 5 -H "Authorization: token $GH_TOKEN"'
        await run(`${signed} https://api.github.com/user`)
        await run(`${signed} https://other.example/`)
        await run('git ls-remote https://github.com/some/where.git; true')
        const sent = (host: string) => [
          ...new Set(hosts.of(host).map(({ authorization }) => authorization)),
        ]
        const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
        assert.deepEqual(sent('api.github.com'), [`Bearer ${token}`])
        assert.deepEqual(sent('other.example'), [`token ${placeholder}`])
        assert.deepEqual(sent('github.com'), [`Basic ${basic}`])
        assert.ok(!service.logged.join().includes(token))
        await service.close()
      },
    )
  }
})
