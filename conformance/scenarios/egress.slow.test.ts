import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { connect } from 'node:net'
import type { TestUpstream } from '@steward/server/engine/egress/fixture.ts'
import { connectBy, echo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SeenEvent } from '../turns.ts'
import { fresh, logOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const canary = () => `canary-${Math.random().toString(36).slice(2)}-${Date.now().toString(36)}`
const toolset = { type: 'agent_toolset_20260401' as const }

/** The text of a turn's only tool result. */
function resultOf(events: SeenEvent[]): string {
  const result = events.find(({ type }) => type === 'agent.tool_result')
  const content = (result?.['content'] ?? []) as { text?: string }[]
  return content.map(({ text }) => text ?? '').join('\n')
}

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`egress on ${database}`, () => {
    let service: TestService
    let api: TestUpstream
    let plain: TestUpstream
    let reached: string[]
    before(async () => {
      reached = []
      api = await upstreamServer((request, response) => {
        reached.push(`${request.headers.host} ${request.url}`)
        return echo(request, response)
      })
      plain = await upstreamServer(echo, { tls: false })
      const hosts = { 'api.example': api, 'other.example': api, 'plain.example': plain }
      service = await boot(database, {
        overrides: {
          nameOverride: {
            connect: connectBy(hosts),
            dial: async () => connect(api.port, '127.0.0.1'),
          },
        },
      })
    })
    after(async () => {
      await service.close()
      await api[Symbol.asyncDispose]()
      await plain[Symbol.asyncDispose]()
    })

    async function sessionWith(auths: object[], network?: object): Promise<string> {
      const { beta } = service.client
      const vault = await service.ask('POST', '/v1/vaults', {
        name: fresh('vault'),
        credentials: auths.map((auth) => ({ auth })),
      })
      assert.equal(vault.status, 200, JSON.stringify(vault.body))
      const agent = await beta.agents.create({
        name: fresh('a'),
        model: 'offline',
        tools: [toolset],
      })
      const environment = await service.ask('POST', '/v1/environments', {
        name: fresh('e'),
        ...(network ? { network } : {}),
      })
      const session = await beta.sessions.create({
        agent: agent.id,
        environment_id: environment.body.id,
        vault_ids: [vault.body.id],
      })
      return session.id
    }
    const bearer = (token: string, host = 'api.example') => ({
      type: 'static_bearer',
      token,
      mcp_server_url: `https://${host}/mcp`,
    })
    const curl = (url: string, more = '') => `run: curl -sS ${more} ${url}`

    verifies(
      [
        'proxy/caller/sandbox',
        'proxy/match/outbound',
        'credentials/match/host',
        'service/vaults/injected-live',
        'service/vaults/names-only',
        'service/vaults/model-blind',
      ],
      'a command in the sandbox is answered as the holder of a token that it never sees',
      async () => {
        const token = canary()
        const session = await sessionWith([bearer(token)])
        const events = await turn(
          service,
          session,
          curl('https://api.example/echo', '-H "Authorization: Bearer mine"'),
        )
        const echoed = JSON.parse(resultOf(events)) as { headers: { authorization: string } }
        assert.equal(echoed.headers.authorization, `Bearer ${'*'.repeat(token.length)}`)
        assert.ok(!JSON.stringify([await logOf(service, session), service.logged]).includes(token))
        const { body } = await service.ask(
          'GET',
          `/v1/ext/audit/credential_uses?session_id=${session}`,
        )
        const [use] = body.data
        assert.deepEqual(
          [use?.['host'], use?.['caller'], body.data.length],
          ['api.example', 'rpc-outbound', 1],
        )
      },
    )

    verifies(
      ['credentials/type/environment-variable'],
      'a variable holds a placeholder inside, and the value goes to its hosts alone',
      async () => {
        const secret = canary()
        const session = await sessionWith([
          {
            type: 'environment_variable',
            secret_name: 'API_TOKEN',
            secret_value: secret,
            networking: { type: 'limited', allowed_hosts: ['api.example'] },
          },
        ])
        const shown = resultOf(await turn(service, session, 'run: echo "$API_TOKEN"; env'))
        assert.ok(!shown.includes(secret))
        const [placeholder = ''] = shown.split('\n')
        const sent = curl('https://api.example/', '-H "X-Key: $API_TOKEN" -d "key=$API_TOKEN"')
        const inside = resultOf(await turn(service, session, sent))
        assert.ok(inside.includes('*'.repeat(secret.length)) && !inside.includes(placeholder))
        const elsewhere = resultOf(
          await turn(service, session, curl('https://other.example/', '-k -H "X-Key: $API_TOKEN"')),
        )
        assert.ok(elsewhere.includes(placeholder), elsewhere)
      },
    )

    verifies(
      'egress/placeholder/clear',
      'a placeholder over plain http is not exchanged, and the session and its agent read that once',
      async () => {
        const auth = {
          ...{ type: 'environment_variable', secret_name: 'API_TOKEN', secret_value: canary() },
          networking: { type: 'unrestricted' },
        }
        const session = await sessionWith([auth])
        const sent = curl('http://plain.example/', '-d "key=$API_TOKEN"')
        const first = resultOf(await turn(service, session, sent))
        assert.match(first, /stw_placeholder_/)
        assert.match(first, /a placeholder went to plain\.example over plain http/)
        const again = await turn(service, session, sent)
        assert.doesNotMatch(resultOf(again), /over plain http/)
        const log = await logOf(service, session)
        const warnings = log.filter(({ type }) => type === 'session.warning')
        assert.deepEqual(
          warnings.map((each) => each['reason']),
          ['egress_in_clear'],
        )
        assert.match(String(warnings[0]?.['message']), /plain\.example/)
      },
    )

    verifies(
      'egress/hosts/unreachable',
      'a variable for a host that the environment does not allow is reported once',
      async () => {
        const auth = (secret_name: string, ...allowed_hosts: string[]) => ({
          ...{ type: 'environment_variable', secret_name, secret_value: canary() },
          networking: { type: 'limited', allowed_hosts },
        })
        const network = { allowlist: ['api.example', 'one.example.org'] }
        const auths = [auth('A', 'api.example', '*.example.org'), auth('B', 'other.example')]
        const session = await sessionWith(auths, network)
        await turn(service, session, 'run: touch mine')
        await turn(service, session, 'run: ls')
        const log = await logOf(service, session)
        const [error, ...more] = log.filter(({ type }) => type === 'session.error')
        const { type, message, vault_id, retry_status } = (error?.['error'] ?? {}) as LooseBody
        assert.deepEqual(
          [type, retry_status, more],
          ['credential_host_unreachable_error', { type: 'retrying' }, []],
        )
        assert.match(String(message), /other\.example, where/)
        assert.equal(typeof vault_id, 'string')
      },
    )

    verifies(
      [
        'environments/network/allowlist',
        'environments/network/denylist',
        'egress/required/no-direct',
      ],
      'the lists decide, and a refusal says which host and why',
      async () => {
        const session = await sessionWith([bearer(canary())], {
          allowlist: ['api.example', '*.example.org'],
          denylist: ['denied.example.org'],
        })
        const before = reached.length
        const events = await turn(service, session, curl('https://other.example/', '-m 5'))
        const said = resultOf(events)
        assert.match(said, /egress denied: other\.example/)
        const log = await logOf(service, session)
        const warning = log.find(({ type }) => type === 'session.warning') as LooseBody | undefined
        assert.equal(warning?.['reason'], 'egress_refused')
        assert.match(String(warning?.['message']), /other\.example/)
        const denied = await turn(service, session, curl('https://denied.example.org/', '-m 5'))
        assert.match(resultOf(denied), /egress denied: denied\.example\.org/)
        const direct = await turn(
          service,
          session,
          curl('https://93.184.216.34/', "--noproxy '*' -m 3"),
        )
        assert.match(resultOf(direct), /curl: \(\d+\)/)
        assert.equal(reached.length, before)
      },
    )

    verifies(
      [
        'command-secret/injected',
        'command-secret/simple-only',
        'command-secret/composite',
        'command-secret/boundary',
      ],
      'a command secret is in the one simple command it is for, and nowhere else',
      async () => {
        const secret = canary()
        const session = await sessionWith([
          {
            type: 'command_secret',
            env_var: 'DEPLOY_TOKEN',
            token: secret,
            command_prefixes: ['node -p'],
          },
        ])
        const run = async (command: string) =>
          resultOf(await turn(service, session, `run: ${command}`))
        const print = "node -p 'process.env.DEPLOY_TOKEN'"
        const alone = await run(print)
        assert.equal(alone.trim(), '*'.repeat(secret.length))
        for (const command of [
          `${print} && true`,
          `${print}; true`,
          `${print} | cat`,
          "node -e 'console.log(process.env.DEPLOY_TOKEN)'",
          'env',
          'echo "[$DEPLOY_TOKEN]"',
        ]) {
          const shown = await run(command)
          assert.ok(!shown.includes(secret) && !shown.includes('****'), `${command}: ${shown}`)
        }
        assert.ok(!JSON.stringify(await logOf(service, session)).includes(secret))
      },
    )
  })
}
