/** Runs the programs of docs/first-agent.md and docs/team.md, unchanged, against a service and the offline model. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { connectBy } from '@steward/server/engine/egress/fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import { adminKey, boot } from './service.ts'

const root = join(import.meta.dirname, '..')

/** The files that a page asks the reader to save, by their names below the page's folder in `data`. */
async function programs(page: string): Promise<Map<string, string>> {
  const markdown = await readFile(join(root, `docs/${page}.md`), 'utf8')
  const saved = markdown.matchAll(
    /[Ss]ave this as\s`data\/([^/`]+)\/([^`]+)`[^]*?```\w+\n([^]*?)```/g,
  )
  return new Map(
    [...saved].flatMap(([, folder, name = '', content = '']) =>
      folder === page ? [[name, content]] : [],
    ),
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  server.close()
  await once(server, 'close')
  return address.port
}

describe('the tutorial', () => {
  it('builds an agent that reads a repository, follows a skill, creates a ticket and writes a file', async () => {
    const files = await programs('first-agent')
    assert.deepEqual([...files.keys()], ['tickets.mjs', 'release-notes/SKILL.md', 'agent.mjs'])
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'steward-tutorial-'))
    stack.defer(() => rm(folder, { recursive: true }))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const port = await freePort()
    for (const [name, content] of files) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), content.replaceAll('4100', String(port)))
    }

    const git = stack.use(await gitServer())
    await git.create('/one/project', { 'README.md': 'hello\n' })
    const service = await boot('sqlite', {
      overrides: {
        nameOverride: {
          connect: connectBy({ 'api.example': git.server, '127.0.0.1': { port } }),
          dial: async () => connect({ port: git.server.port, host: '127.0.0.1' }),
        },
      },
    })
    stack.defer(() => service.close())

    const env = { PATH: process.env['PATH'], TICKETS_TOKEN: 'a token that the agent never sees' }
    const tickets = spawn(process.execPath, [join(folder, 'tickets.mjs')], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    stack.defer(async () => {
      if (tickets.kill()) await once(tickets, 'exit')
    })
    let printed = ''
    tickets.stdout.setEncoding('utf8').on('data', (piece: string) => (printed += piece))
    await once(tickets.stdout, 'data')

    const agent = spawn(process.execPath, [join(folder, 'agent.mjs')], {
      env: {
        ...env,
        URL: service.base,
        KEY: adminKey,
        REPOSITORY: 'https://api.example/one/project',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await Promise.all([text(agent.stdout), once(agent, 'exit')])
    assert.equal(agent.exitCode, 0, said)
    assert.doesNotMatch(said, /error:|failed|a token that/)
    for (const part of ['→ create_ticket', 'more', '# Release notes', 'created ticket 1'])
      assert.ok(said.includes(part), `${part} is not in:\n${said}`)
    assert.match(said, /file: notes\.txt file_/)
    assert.match(printed, /ticket 1: Publish the release notes/)
  })
})

describe('the demo of integrations', () => {
  it('shows agents in Linear, GitHub and Slack, from installation to answers in threads of others', async () => {
    const program = join(root, 'scripts/demo-integrations.ts')
    const demo = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [shown] = await Promise.all([text(demo.stdout), once(demo, 'exit')])
    assert.equal(demo.exitCode, 0, shown)
    const parts = shown.split('\n\n').filter((part) => /installed in Acme as inst_/.test(part))
    assert.equal(parts.length, 3, shown)
    const answers = [/→ mended/, /hello from an issue$/m, /\[allow\] \[deny\][^]*hello from a chat/]
    for (const answer of answers) assert.match(shown, answer)
    assert.match(shown, /reply in the thread: Line 7 of src\/pay\.ts .* bob said "Why not total\?"/)
    assert.match(shown, /bob and cy wrote 3 messages:\n.*\(bob\)\n.*\(cy\)\n.*\(bob\)$/m)
  })
})

describe('the page on teams', () => {
  it('has three agents work in the same files until the grader is satisfied', async () => {
    const files = await programs('team')
    assert.deepEqual([...files.keys()], ['team.mjs'])
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'steward-team-'))
    stack.defer(() => rm(folder, { recursive: true }))
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const program = join(folder, 'team.mjs')
    await writeFile(program, files.get('team.mjs') ?? '')
    const service = await boot('sqlite')
    stack.defer(() => service.close())
    const env = { PATH: process.env['PATH'], URL: service.base, KEY: adminKey }
    const team = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = await Promise.all([text(team.stdout), once(team, 'exit')])
    assert.equal(team.exitCode, 0, said)
    const told = /^(started|message from|grader|error): .*$/gm
    assert.deepEqual(said.match(told), [
      'started: writer',
      'message from: writer',
      'started: reviewer',
      'message from: reviewer',
      'grader: satisfied',
    ])
    assert.match(said, /lead: The writer has written the poem, and the reviewer has read it\./)
    for (const name of ['lead', 'writer', 'reviewer'])
      assert.match(said, new RegExp(`^thread: ${name} idle [0-9]+$`, 'm'))
    assert.match(said, /^file: poem\.txt file_/m)
  })
})
