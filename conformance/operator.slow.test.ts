/** The operator's view: settings, commands, and a server that says why it does not start. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { openaiChatDialect } from '@steward/model/stubs/stub-openai-chat.ts'
import { googleDialect } from '@steward/model/stubs/stub-google.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import { listSettings } from '@steward/base/settings/setting.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import type { AuditLine } from '@steward/protocol/audit.ts'
import { runServer, startServer } from './process.ts'
import { invitationToken } from './invitations.ts'
import { password } from './people.ts'
import { adminKey } from './service.ts'
import { fresh } from './turns.ts'
import { until } from './until.ts'
import { verifies } from './verifies.ts'

describe('the operator', () => {
  let folder: string
  let env: Record<string, string>
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-operator-'))
    env = {
      DATA_DIR: folder,
      SANDBOX_DIR: join(folder, 's'),
      SANDBOX_PROVIDER: 'local',
      EGRESS_PROFILE: 'best_effort',
    }
  })
  after(() => rm(folder, { recursive: true, force: true }))

  async function refusal(wrong: Record<string, string | undefined>): Promise<string> {
    const { code, stderr } = await runServer([], { ...env, ...wrong })
    assert.notEqual(code, 0)
    return stderr
  }

  verifies(
    ['secrets/root-required', 'settings/root-secret'],
    'the server does not start without a root secret, and says so',
    async () => {
      assert.match(await refusal({ PLATFORM_ROOT_SECRET: undefined }), /PLATFORM_ROOT_SECRET/)
      const short = await refusal({ PLATFORM_ROOT_SECRET: 'hunter2' })
      assert.match(short, /PLATFORM_ROOT_SECRET/)
      assert.ok(!short.includes('hunter2'))
    },
  )

  verifies(
    'settings/unknown-refused',
    'settings that are unknown, malformed or not there yet are all named at once',
    async () => {
      const words = await refusal({
        STEWARD_COLOUR: 'red',
        PORT: 'eighty',
        DATABASE_URL: 'mysql://x',
        EGRESS_ALLOW_PRIVATE: '10.0.0.0/99',
        EGRESS_TENANT_TARGETS: '10.0.0.0/8',
        STORE_BACKENDS: '{"blobs": {"type": "tape"}}',
      })
      const egress = ['EGRESS_ALLOW_PRIVATE', 'EGRESS_TENANT_TARGETS']
      for (const name of ['STEWARD_COLOUR', 'PORT', 'DATABASE_URL', ...egress]) {
        assert.match(words, new RegExp(name))
      }
      assert.match(words, /STORE_BACKENDS: blobs.type: must be disk or s3/)
    },
  )

  verifies('settings/help', 'help lists every setting and every command', async () => {
    const { code, stdout } = await runServer(['help'], { PLATFORM_ROOT_SECRET: undefined })
    assert.equal(code, 0)
    for (const { name } of listSettings(serverProgram.settings))
      assert.ok(stdout.includes(name), name)
    const commands = [...stdout.matchAll(/npm start -- ([a-z-]+)/g)].map(([, name = '']) => name)
    assert.ok(commands.length > 20)
    const page = await readFile(join(import.meta.dirname, '../docs/workspaces.md'), 'utf8')
    for (const name of commands) assert.match(page, new RegExp(`^\\|.*\`${name}[ \`]`, 'm'), name)
  })

  verifies(
    ['api-keys/operator-command', 'secrets/other-root', 'api-keys/initial', 'settings/api-key'],
    'a command makes a workspace beside a running server; another root secret starts nothing',
    async () => {
      await using server = await startServer(env)
      const made = await runServer(['create-workspace', 'second'], env)
      assert.equal(made.code, 0, made.stderr)
      const { key } = JSON.parse(made.stdout) as { key: string }
      const status = async (value: string) => {
        const headers = { 'x-api-key': value }
        return (await fetch(`${server.base}/v1/ext/api_keys`, { headers })).status
      }
      assert.deepEqual([await status(key), await status(adminKey)], [200, 200])
      await server.kill()
      const other = await refusal({ PLATFORM_ROOT_SECRET: 'quite another root secret' })
      assert.match(other, /PLATFORM_ROOT_SECRET|root secret/)
      assert.ok(!other.includes('quite another'))
    },
  )

  verifies(
    ['secrets/other-root', 'audit/verify'],
    'no command accepts a database that was sealed under another root secret, and none blames the audit',
    async () => {
      const own = { ...env, DATA_DIR: join(folder, 'sealed') }
      assert.equal((await runServer(['create-workspace', 'ours'], own)).code, 0)
      const wrong = { ...own, PLATFORM_ROOT_SECRET: 'quite another root secret' }
      for (const args of [
        ['list-workspaces'],
        ['create-workspace', 'theirs'],
        ['create-key', 'ours'],
        ['audit', 'verify'],
        ['audit', 'export'],
        ['migrate', '--all'],
        ['rotate-root-secret'],
        ['move-databases', '--to', 'tenants'],
        ['backup-workspace', 'ours', '--to', join(folder, 'ours.backup')],
      ]) {
        const { code, stdout, stderr } = await runServer(args, wrong)
        const words = args.join(' ')
        assert.deepEqual([code, stdout], [1, ''], words)
        assert.match(stderr, /the database was sealed under another PLATFORM_ROOT_SECRET/, words)
      }
      const verified = await runServer(['audit', 'verify'], own)
      assert.equal(verified.code, 0, verified.stdout)
    },
  )

  verifies(
    'audit/verify',
    'an earlier verification is read with the banner of npm before it, and a line that is none is refused by its number',
    async () => {
      const own = { ...env, DATA_DIR: join(folder, 'anchored') }
      assert.equal((await runServer(['create-workspace', 'ours'], own)).code, 0)
      const { stdout: heads } = await runServer(['audit', 'verify'], own)
      const against = async (text: string) => {
        const file = join(folder, 'heads.jsonl')
        await writeFile(file, text)
        return runServer(['audit', 'verify', '--against', file], own)
      }
      const banner = '\n> steward@0.1.0 start\n> exec node main.ts audit verify\n\n'
      const same = await against(banner + heads)
      assert.deepEqual([same.code, same.stdout], [0, heads], same.stderr)
      assert.match((await against(banner)).stderr, /--silent -- audit verify/)
      assert.match((await against(`${banner}${heads}{"cut`)).stderr, /audit verify: line \d+/)
    },
  )

  verifies(
    [
      'api-keys/operator-key',
      'invitations/operator',
      'organization/operator-commands',
      'audit/verify',
      'audit/deployment',
    ],
    'a command prints a further key of a workspace, by its name or its id, beside a running server',
    async () => {
      const own = { ...env, DATA_DIR: join(folder, 'keys') }
      await using server = await startServer(own)
      const run = async (...args: string[]) => {
        const { code, stdout, stderr } = await runServer(args, own)
        assert.equal(code, 0, stderr)
        return JSON.parse(stdout) as { workspace: string; key: string; admin: boolean; url: string }
      }
      const { workspace } = await run('create-workspace', 'third')
      const admin = await run('create-key', 'third', '--admin', '--name', 'spare')
      const plain = await run('create-key', workspace)
      assert.deepEqual([admin.workspace, admin.admin, plain.admin], [workspace, true, false])
      const listed = await fetch(`${server.base}/v1/ext/api_keys`, {
        headers: { 'x-api-key': plain.key },
      })
      const { data } = (await listed.json()) as { data: { name: string; admin: boolean }[] }
      assert.ok(data.some((key) => key.name === 'spare' && key.admin))
      const { url } = await run('create-invitation', 'third', '--role', 'viewer')
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/signin\/invitation#[\w-]{32}$/)
      const person = { token: invitationToken(url), email: 'a@b.example', name: 'A', password }
      const accepted = await fetch(`${server.base}/v1/ext/auth/invitation`, {
        method: 'POST',
        body: JSON.stringify(person),
      })
      assert.equal(accepted.status, 200)
      const exported = await runServer(['audit', 'export'], own)
      const lines = exported.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, string>)
      assert.deepEqual(
        lines.flatMap((line) => (line['actor_type'] === 'operator' ? line['action'] : [])),
        ['workspace.create', 'api_key.create', 'api_key.create', 'invitation.create'],
      )
      const verified = await runServer(['audit', 'verify', '--workspace', workspace], own)
      assert.equal(verified.code, 0, verified.stderr)
      assert.match(verified.stdout, /"trail":"audit_lines","ok":true/)
      for (const [args, why] of [
        [['create-workspace', 'third'], /a workspace has the name third already: give another/],
        [['delete-workspace', workspace], /only an archived workspace can be deleted/],
        [['rename-workspace', 'third'], /rename-workspace needs <name>/],
        [['revoke-key', 'third', '--admin'], /Unknown option '--admin'/],
        [['create-key'], /needs a workspace/],
        [['create-key', 'nobody'], /no workspace has the id or the name nobody/],
        [['create-workspace', 'fourth', '--admin'], /--admin belongs to create-key/],
        [['create-key', workspace, '--role', 'admin'], /--role belongs to create-invitation/],
        [
          ['create-invitation', workspace, '--role', 'king'],
          /--role must be one of viewer, reviewer, member/,
        ],
      ] as const) {
        const { code, stderr } = await runServer([...args], own)
        assert.notEqual(code, 0)
        assert.match(stderr, why)
      }
      for (const [args, line] of [
        [['lst-workspaces'], 'lst-workspaces is not a command. Do you mean list-workspaces?'],
        [['frobnicate'], 'frobnicate is not a command.'],
        [['migrate', '--al'], "Unknown option '--al'."],
      ] as const) {
        const { code, stderr } = await runServer([...args], own)
        assert.equal(code, 2)
        assert.equal(stderr, `steward: ${line} npm start -- help lists all commands.\n`)
      }
      await run('archive-workspace', workspace)
      await run('delete-workspace', workspace)
      await until(() => server.said().includes('a deleted workspace was removed'))
      const refused = await fetch(`${server.base}/v1/agents`, {
        headers: { 'x-api-key': plain.key },
      })
      assert.equal(refused.status, 401)
      const help = await runServer(['delete-workspace', '--help'], {})
      assert.match(help.stdout, /Archive it first\./)
      const ofAudit = await runServer(['audit', '--help'], {})
      assert.match(
        ofAudit.stdout,
        /^  npm start -- audit verify .*\n +--workspace[^]*^  npm start -- audit export /m,
      )
      assert.doesNotMatch(ofAudit.stdout, /create-key|PLATFORM_ROOT_SECRET/)
    },
  )

  verifies(
    ['limits/overrides/operator', 'settings/rate-limits'],
    'a command allows a workspace another limit, and says what is wrong with a limit that it refuses',
    async () => {
      const own = { ...env, DATA_DIR: join(folder, 'limits'), RATE_LIMITS: 'reads:10/d' }
      const run = (...args: string[]) => runServer(args, own)
      const made = await run('create-workspace', 'limited')
      const { workspace, key } = JSON.parse(made.stdout) as { workspace: string; key: string }
      const set = await run('set-limit', 'limited', 'reads', '25/h')
      assert.equal(set.code, 0, set.stderr)
      assert.deepEqual(JSON.parse(set.stdout), { workspace, limit: 'reads', value: '25/h' })
      assert.equal((await run('set-spend-limit', 'limited', 'monthly', '5000')).code, 0)
      await using server = await startServer(own)
      const headers = { 'x-api-key': key }
      const audited = await fetch(`${server.base}/v1/ext/audit`, { headers })
      const { data } = (await audited.json()) as { data: AuditLine[] }
      const ofCommand = (action: string) => data.find((line) => line.action === action)
      assert.equal(ofCommand('rate_limit.set')?.resource.id, 'reads')
      assert.equal(ofCommand('rate_limit.set')?.after?.['value'], 25)
      assert.equal(ofCommand('spend_limit.set')?.after?.['period'], 'monthly')
      const limitOf = async () => {
        const answer = await fetch(`${server.base}/v1/agents`, { headers: { 'x-api-key': key } })
        return answer.headers.get('x-ratelimit-limit')
      }
      await until(async () => (await limitOf()) === '25')
      for (const [args, why] of [
        [['set-limit', 'limited', 'reads'], /needs a workspace, a limit and its value/],
        [['set-limit', 'nobody', 'reads', '5/m'], /no workspace has the id or the name nobody/],
        [['set-limit', 'limited', 'read', '5/m'], /read is not a limit; the limits are reads, /],
        [['set-limit', 'limited', 'reads', '5'], /"5" is not a rate/],
        [['set-spend-limit', 'limited', 'daily', '50', '000'], /takes 3 words at most/],
      ] as const) {
        const { code, stderr } = await run(...args)
        assert.notEqual(code, 0)
        assert.match(stderr, why)
      }
      assert.match(
        (await runServer([], { ...own, RATE_LIMITS: 'reads:10/m,rights:5/m' })).stderr,
        /RATE_LIMITS: "rights:5\/m" is not class:rate; the classes are reads, writes/,
      )
    },
  )

  verifies(
    [
      'model-cards/base-url/guarded',
      'events/post/image-url-guarded',
      'settings/egress-allow-private',
      'settings/egress-tenant-targets',
    ],
    'private addresses are not dialled unless the operator allows them',
    async () => {
      await using stub = await startStub(openaiChatDialect)
      stub.replies({ blocks: [{ type: 'text', pieces: ['reached'] }], stop: 'end_turn' })
      const card = {
        model_id: 'walled',
        provider: 'oai-compatible',
        model: 'stub-1',
        base_url: stub.url,
        api_key: 'sk-test-0123456789',
      }
      const body = JSON.stringify(card)
      const headers = { 'x-api-key': adminKey }
      const probed = async (base: string) => {
        const answer = await fetch(`${base}/v1/ext/model_cards`, { method: 'POST', headers, body })
        return (await answer.json()) as { probe: { ok: boolean; message?: string } }
      }
      async function showPicture(base: string): Promise<void> {
        const make = async (path: string, made: object) => {
          const init = { method: 'POST', headers, body: JSON.stringify(made) }
          return fetch(base + path, init)
        }
        const idOf = async (answer: Response) => ((await answer.json()) as { id: string }).id
        const agent = await idOf(
          await make('/v1/agents', { name: 'n', model: 'offline', tools: [] }),
        )
        const environment_id = await idOf(await make('/v1/environments', { name: fresh('env') }))
        const session = await idOf(await make('/v1/sessions', { agent, environment_id }))
        const picture = { type: 'image', source: { type: 'url', url: `${stub.url}/cat.png` } }
        const content = [{ type: 'text', text: 'say: seen' }, picture]
        const answer = await make(`/v1/sessions/${session}/messages`, { content })
        assert.match(await answer.text(), /session\.status_idle/)
      }
      async function askOperatorsModel(base: string, model = 'of-the-operator'): Promise<string> {
        const make = async (path: string, made: object) => {
          const init = { method: 'POST', headers, body: JSON.stringify(made) }
          return (await (await fetch(base + path, init)).json()) as { id: string }
        }
        const { id: agent } = await make('/v1/agents', { name: 'n', model, tools: [] })
        const { id: environment_id } = await make('/v1/environments', { name: fresh('env') })
        const session = await make('/v1/sessions', { agent, environment_id })
        const init = { method: 'POST', headers, body: JSON.stringify({ content: 'hello' }) }
        return (await fetch(`${base}/v1/sessions/${session.id}/messages`, init)).text()
      }
      await using strict = await startServer(env)
      const { probe } = await probed(strict.base)
      assert.equal(probe.ok, false)
      assert.match(probe.message ?? '', /private|reserved/)
      await showPicture(strict.base)
      assert.equal(stub.requests.length, 0)
      await strict.kill()
      await using google = await startStub(googleDialect)
      google.replies({ blocks: [{ type: 'text', pieces: ['reached'] }], stop: 'end_turn' })
      const own = {
        ...{ ...env, DATA_DIR: join(folder, 'own'), EGRESS_ALLOW_PRIVATE: '127.0.0.0/8' },
        ...{ OPENAI_BASE_URL: stub.url, OPENAI_API_KEY: 'sk-operator-0123456789' },
        ...{ GEMINI_BASE_URL: google.url, GEMINI_API_KEY: 'sk-operator-0123456789' },
      }
      await using operators = await startServer(own)
      assert.equal((await probed(operators.base)).probe.ok, false)
      await showPicture(operators.base)
      assert.equal(stub.requests.length, 0, 'what the operator may name, tenants may not')
      assert.match(await askOperatorsModel(operators.base), /reached/)
      assert.match(await askOperatorsModel(operators.base, 'gemini-2.5-flash'), /reached/)
      await operators.kill()
      const targets = `127.0.0.0/8:${new URL(stub.url).port}`
      const open = { ...env, DATA_DIR: join(folder, 'open'), EGRESS_TENANT_TARGETS: targets }
      await using allowed = await startServer(open)
      assert.equal((await probed(allowed.base)).probe.ok, true)
      await showPicture(allowed.base)
      assert.ok(stub.requests.some(({ path }) => path === '/cat.png'))
    },
  )
})
