import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'node:test'
import { callTool, mcpHosts, sessionOf, vaultOf } from '../mcp.ts'
import { runServer } from '../process.ts'
import type { TestService } from '../service.ts'
import { boot } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { all, logOf, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${crypto.randomUUID()}`
const bearer = (token: string) => ({
  type: 'static_bearer',
  token,
  mcp_server_url: 'https://api.example/',
})
const curl = (host: string, more = '') => `run: curl -sS -m 5 ${more} https://${host}/`
const tools = [{ type: 'agent_toolset_20260401' }]
const resultOf = (events: readonly SeenEvent[]) => textOf(only(events, 'agent.tool_result'))

async function booted(env: Record<string, string>) {
  const hosts = await mcpHosts()
  hosts.set('api.example', ({ headers }) =>
    Response.json({ authorization: headers.get('authorization'), key: headers.get('x-key') }),
  )
  const service = await boot('sqlite', { env, overrides: { nameOverride: hosts.outside } })
  return {
    hosts,
    service,
    async [Symbol.asyncDispose]() {
      await hosts[Symbol.asyncDispose]()
      await service.close()
    },
  }
}

const warnings = async (service: TestService, session: string) =>
  all(await logOf(service, session), 'session.warning')

describe('profiles of egress', () => {
  verifies(
    ['egress/profile/required', 'errors/case/egress-unavailable'],
    'required, which is the default, starts no server whose sandboxes have a way around',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'steward-profile-'))
      const env = { DATA_DIR: folder, SANDBOX_PROVIDER: 'local' }
      for (const more of [{}, { EGRESS_PROFILE: 'required' }]) {
        const { code, stderr } = await runServer([], { ...env, ...more })
        assert.notEqual(code, 0)
        assert.match(stderr, /EGRESS_PROFILE=required.*bubblewrap/)
      }
      await rm(folder, { recursive: true })
    },
  )

  verifies(
    ['egress/required/fails-closed', 'errors/case/egress-unavailable'],
    'a sandbox whose egress cannot be opened does not start, and the session goes on',
    async () => {
      await using at = await booted({})
      const session = await sessionOf(at.service, { tools })
      const own = join(at.service.dataDir, 'sandboxes', session)
      await mkdir(own, { recursive: true })
      // The folder of the gate's socket cannot be made.
      await writeFile(join(own, 'starts'), '')
      const events = await turn(at.service, session, curl('api.example', '-k'))
      assert.equal(only(events, 'agent.tool_result')['is_error'], true)
      assert.deepEqual(at.hosts.noted, [])
      await rm(join(own, 'starts'))
      const next = await turn(at.service, session, curl('api.example', '-k'))
      assert.match(resultOf(next), /authorization/)
    },
  )

  verifies(
    ['egress/profile/best-effort'],
    'best_effort gives credentials where a sandbox has ways around too, and says so once',
    async () => {
      await using at = await booted({ SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' })
      const token = canary()
      const vault = await vaultOf(at.service, bearer(token))
      const session = await sessionOf(at.service, { tools, vault_ids: [vault] })
      for (const _ of [1, 2]) {
        const said = resultOf(await turn(at.service, session, curl('api.example')))
        assert.match(said, new RegExp(`Bearer \\*{${token.length}}`))
      }
      assert.equal(at.hosts.noted.at(-1)?.authorization, `Bearer ${token}`)
      const [warning, ...more] = await warnings(at.service, session)
      assert.equal(warning?.['reason'], 'egress_not_enforced')
      assert.deepEqual(more, [])
    },
  )

  verifies(
    ['egress/profile/disabled'],
    'disabled adds nothing to requests of a sandbox, and its lists still apply',
    async () => {
      await using at = await booted({ EGRESS_PROFILE: 'disabled' })
      const vault = await vaultOf(
        at.service,
        bearer(canary()),
        {
          type: 'environment_variable',
          secret_name: 'API_TOKEN',
          secret_value: canary(),
          networking: { type: 'unrestricted' },
        },
        { type: 'command_secret', env_var: 'DEPLOY', token: canary(), command_prefixes: [] },
      )
      const endpoint = { type: 'http', endpoint: 'https://api.example/' }
      const asking = {
        type: 'custom',
        name: 'ask',
        description: 'asks',
        input_schema: { type: 'object' },
        execution: endpoint,
      }
      const session = await sessionOf(at.service, {
        tools: [...tools, asking],
        vault_ids: [vault],
        environment: { network: { allowlist: ['api.example'] } },
      })
      const run = async (text: string) => resultOf(await turn(at.service, session, text))
      const nothing = '{"authorization":null,"key":null}'
      assert.equal(await run(curl('api.example', '-k')), nothing)
      assert.equal(await run(callTool('ask')), nothing)
      assert.equal((await run("run: node -p 'process.env.DEPLOY'")).trim(), 'undefined')
      assert.equal((await run('run: echo "[$API_TOKEN]"')).trim(), '[]')
      assert.match(await run(curl('other.example', '-k')), /egress denied: other\.example/)
      const uses = await at.service.ask(
        'GET',
        `/v1/ext/audit/credential_uses?session_id=${session}`,
      )
      assert.deepEqual(uses.body.data, [])
    },
  )
})
