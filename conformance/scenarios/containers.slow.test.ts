/** Sessions with all that they bring, on servers whose sandboxes an engine starts. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { testImage } from '@steward/sandbox/docker/fixture.ts'
import { until } from '@steward/sandbox/fixture.ts'
import { isLongRun } from '@steward/server/ground/database/fixture.ts'
import type { ContainerEngine, InspectedContainer, Upstreams } from '../engines.ts'
import { containerEngine, upstreams } from '../engines.ts'
import { uploadFile } from '../files.ts'
import { startServer } from '../process.ts'
import type { ServiceClients, LooseBody, TestService } from '../service.ts'
import { boot, clientsOf } from '../service.ts'
import { sendBody, skillForm, skillText } from '../skills.ts'
import { all, fresh, logOf, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]
const beta = { 'vendor-beta': 'managed-agents-2026-04-01' }
const canaries = {
  repository: 'canary-token-of-a-repository',
  api: 'canary-token-of-an-api',
  command: 'canary-secret-of-a-command',
}
/** A rootless engine on cgroups version 1 cannot apply limits. */
const isLimited = process.getuid?.() === 0
const bash = (command: string) => `call bash ${JSON.stringify({ command })}`

async function run(
  service: ServiceClients,
  session: string,
  ...commands: string[]
): Promise<string[]> {
  const seen = await turn(service, session, commands.map(bash).join('\n'))
  assert.deepEqual(all(seen, 'session.error'), [])
  return all(seen, 'agent.tool_result').map(textOf)
}

/** `npm test` runs on one engine, `npm run test:long` on both. The contract of sandboxes runs on both each time. */
const kinds = isLongRun ? (['docker', 'podman'] as const) : (['docker'] as const)
for (const kind of kinds) {
  describe(`sessions in containers of ${kind}`, () => {
    let reached: Upstreams
    let engine: ContainerEngine
    let service: TestService
    before(async () => {
      reached = await upstreams()
      engine = await containerEngine(kind)
      const limits = { SANDBOX_MEMORY_MB: '512', SANDBOX_PROCESSES: '64', SANDBOX_CPUS: '1.5' }
      service = await boot('sqlite', {
        env: { ...engine.env, SANDBOX_SOCKET: engine.between.socket, ...reached.env, ...limits },
        overrides: { nameOverride: reached.outside },
      })
    })
    after(async () => {
      await service.close()
      await engine.stop()
      await reached[Symbol.asyncDispose]()
    })

    const hostPath = (session: string, ...path: string[]) =>
      join(service.dataDir, 'sandboxes', session, ...path)

    async function stores() {
      const { memoryStores } = service.client.beta
      const [notes, rules] = [
        await memoryStores.create({ name: 'notes', description: 'what is known' }),
        await memoryStores.create({ name: 'rules', description: 'what holds' }),
      ]
      for (const { id } of [notes, rules])
        await memoryStores.memories.create(id, { path: '/a', content: 'one\n' })
      return { notes: notes.id, rules: rules.id }
    }
    async function held(store: string) {
      const found: Record<string, string> = {}
      for await (const each of service.client.beta.memoryStores.memories.list(store, {
        view: 'full',
      }))
        if (each.type === 'memory') found[each.path] = each.content ?? ''
      return found
    }

    /** Creates a session with one input of every kind. */
    async function sessionWithInputs() {
      const { notes, rules } = await stores()
      const file = await uploadFile(service, { name: 'in.csv', content: 'a,b\n' })
      const skill = await sendBody<LooseBody>(
        service,
        '/v1/skills',
        skillForm([
          { path: 'SKILL.md', content: skillText(`${kind}-skill`, '# Greet\n') },
          { path: 'deep/data.txt', content: 'of the skill\n' },
        ]),
      )
      assert.equal(skill.status, 200, skill.text)
      await reached.git.create('/one/code', { 'README.md': 'hello\n' }, canaries.repository)
      const auths = [
        { type: 'static_bearer', token: canaries.api, mcp_server_url: 'https://other.example/mcp' },
        {
          type: 'command_secret',
          env_var: 'SECRET',
          command_prefixes: ['perl -e'],
          token: canaries.command,
        },
      ]
      const vault = await service.ask('POST', '/v1/vaults', {
        ...{ name: fresh('vault'), credentials: auths.map((auth) => ({ auth })) },
      })
      assert.equal(vault.status, 200, JSON.stringify(vault.body))
      const environment = await service.ask('POST', '/v1/environments', {
        ...{ name: fresh('env'), packages: { pip: ['tiny-pip'] }, env: { FLAVOUR: 'sweet' } },
      })
      const repository = {
        url: 'https://api.example/one/code',
        authorization_token: canaries.repository,
      }
      const session = await newSession(
        service,
        { tools, skills: [{ type: 'custom', skill_id: skill.body.id }] },
        {
          ...{ environment_id: environment.body.id, vault_ids: [vault.body.id] },
          resources: [
            { type: 'file', file_id: file.id },
            { type: 'file', file_id: file.id, mount_path: '/workspace/in.csv' },
            { type: 'memory_store', memory_store_id: notes },
            { type: 'memory_store', memory_store_id: rules, access: 'read_only' },
            { type: 'github_repository', ...repository },
          ],
        },
      )
      return { session, notes, rules, upload: `/mnt/session/uploads/${file.id}` }
    }

    verifies(
      ['sandbox/containers/furnished', 'sandbox/containers/confined'],
      'find all that the session mounts, change what is writable, and nothing else',
      async () => {
        const { session, notes, rules, upload } = await sessionWithInputs()
        const readable = [
          ...[upload, '/workspace/in.csv', `/home/user/.skills/${kind}-skill/deep/data.txt`],
          ...['/mnt/memory/notes/a', '/mnt/memory/rules/a', '/workspace/code/README.md'],
        ]
        const push =
          'cd /workspace/code && git config user.email a@example.com && git config user.name a && echo two >README.md && git commit -qam two && git push -q origin HEAD 2>&1; echo $?; cd'
        const fixed = [
          ...readable.slice(0, 3),
          '/mnt/memory/rules/a',
          '/opt/packages/pip/tiny_pip.py',
        ]
        const tries = fixed.flatMap((path) => [
          `echo x >>${path}; chmod 666 ${path}`,
          // A path in the working folder is a link of the session itself, which the session may remove.
          ...(path.startsWith('/workspace') ? [] : [`rm -f ${path}; mv ${path} /tmp/moved`]),
        ])
        const write =
          'echo two >/mnt/memory/notes/a; echo three >/mnt/memory/notes/b; echo result >/mnt/session/outputs/r.txt; mkdir ~/own /workspace/deep; echo kept >/workspace/deep/file; id -u'
        const [read, found, pushed, echoed, secret, tried, written] = await run(
          service,
          session,
          `cat ${readable.join(' ')}`,
          'echo $FLAVOUR; tiny-pip; stat -c %U /workspace/code/.git/config; git -C /workspace/code status -sb',
          push,
          'curl -sS https://other.example/echo',
          "perl -e 'print $ENV{SECRET}'",
          `(${tries.join('; ')}) 2>/dev/null; cat ${fixed.slice(0, 4).join(' ')}`,
          write,
        )
        assert.equal(read, 'a,b\na,b\nof the skill\none\none\nhello\n')
        assert.equal(found, 'sweet\ntiny of pip\nuser\n## main...origin/main\n')
        assert.equal(pushed, '0\n')
        assert.equal(await reached.git.git('/one/code', 'show', 'main:README.md'), 'two')
        assert.match(String(echoed), /"authorization":"Bearer \*{22}"/)
        assert.equal(secret, '*'.repeat(canaries.command.length))
        assert.equal(tried, 'a,b\na,b\nof the skill\none\n')
        assert.deepEqual(await held(notes), { '/a': 'two\n', '/b': 'three\n' })
        assert.deepEqual(await held(rules), { '/a': 'one\n' })
        const outputs = await service.ask<LooseBody>(
          'GET',
          `/v1/sessions/${session}/outputs`,
          undefined,
          beta,
        )
        assert.deepEqual(
          outputs.body.data.map(({ filename, size_bytes }) => [filename, size_bytes]),
          [['r.txt', 7]],
        )
        const kept = hostPath(session, 'workspace', 'deep', 'file')
        assert.equal(await readFile(kept, 'utf8'), 'kept\n')
        assert.equal(`${statSync(kept).uid}\n`, written)

        const [container, ...others] = await engine.containers(session)
        assert.ok(container && others.length === 0)
        looksConfined(await engine.inspect(container), session)
        const look = `env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; grep -rIa 'canary[-]' /workspace /opt /tmp /run /home /mnt /etc; find / -xdev -type s`
        const [inside] = await run(service, session, `(${look}) 2>/dev/null | tr '\\0' '\\n'`)
        assert.doesNotMatch(String(inside), /canary-|\.sock(?<!\/opt\/steward\/gate\.sock)$/m)
        assert.doesNotMatch(
          JSON.stringify([await logOf(service, session), service.logged]),
          /canary-/,
        )

        await engine.kill(container)
        const [again] = await run(
          service,
          session,
          'cat /workspace/deep/file /mnt/memory/notes/b /workspace/code/README.md; ls ~; tiny-pip',
        )
        assert.match(String(again), /^kept\nthree\ntwo\nfiles\ntiny of pip\n/)
        assert.match(String(again), /the sandbox was started anew/)
        await service.client.beta.sessions.delete(session)
      },
    )

    /** Asserts that the engine's description of the container has the limits of a sandbox. */
    function looksConfined({ HostConfig, Mounts }: InspectedContainer, session: string): void {
      const { NetworkMode, Privileged, PidMode, Devices, CapAdd } = HostConfig
      assert.deepEqual([NetworkMode, Privileged], ['none', false])
      assert.match(PidMode, /^(private)?$/)
      assert.deepEqual([...(Devices ?? []), ...(CapAdd ?? [])], [])
      const { Memory, PidsLimit, CpuQuota } = HostConfig
      if (isLimited) assert.deepEqual([Memory, PidsLimit, CpuQuota], [512 << 20, 64, 150_000])
      const written = Mounts.filter(({ RW }) => RW)
      assert.deepEqual(written.map(({ Destination }) => Destination).toSorted(), [
        ...['/mnt/memory/notes', '/mnt/session/outputs', '/mnt/user', '/workspace'],
      ])
      for (const { Source } of written) assert.ok(Source.startsWith(hostPath(session, '')), Source)
      const shared = /\/(egress\/[^/]+\.crt|(packages|skills)\/[^/]+\/[0-9a-f]{64}(\/prefix)?)$/
      const given = Mounts.map(({ Source }) => Source).filter((path) =>
        path.startsWith(service.dataDir),
      )
      for (const path of given)
        assert.ok(path.startsWith(hostPath(session, '')) || shared.test(path), path)
    }

    verifies(
      ['sandbox/containers/confined', 'sandbox/bounded'],
      'hold no power and no device, and no more memory and processes than they may',
      async () => {
        const session = await newSession(service, { tools })
        const [power, devices, forked, hog, full, on] = await run(
          service,
          session,
          'grep -E "^(Cap|NoNew|Seccomp:)" /proc/self/status | cut -f2 | sort -u | xargs',
          'for d in /dev/*; do [ -b $d -o -c $d ] && echo $d; done | xargs; ls /dev/pts',
          sleepers,
          'perl -e \'$a = "x" x (1400 << 20); print length $a\'; echo " $?"',
          `(for d in ${inMemory}; do head -c 600000000 /dev/zero >$d/full; done) 2>/dev/null; echo full`,
          `rm $(printf '%s/full ' ${inMemory}) && echo on`,
        )
        assert.equal(power, '0000000000000000 1 2\n')
        assert.match(
          String(devices),
          /^(\/dev\/(console|full|null|ptmx|random|std(in|out|err)|tty|urandom|zero) ?)+\n(ptmx\n)?$/,
        )
        assert.ok(Number(forked) > 0 && Number(forked) < 64, String(forked))
        assert.doesNotMatch(String(hog), /^1468006400/)
        assert.deepEqual([full, on], ['full\n', 'on\n'])
      },
    )

    verifies(
      [
        'environments/base-image/used',
        'environments/base-image/missing',
        'sessions/not-yet/packages',
        'environments/packages/failed',
        'skills/builtin/without-node',
      ],
      'start from the image of the environment, and the service refuses or reports what the image lacks',
      async () => {
        const make = (more: object) =>
          service.ask('POST', '/v1/environments', { name: fresh('env'), ...more })
        const inside = async (more: object, agent: object = {}) => {
          const { body } = await make(more)
          return newSession(service, { tools, ...agent }, { environment_id: body.id })
        }
        const look = 'echo "$OF_THE_IMAGE"; ls -d /kept; pwd; cat /proc/net/dev | wc -l'
        const named = await inside({ base_image: `docker.io/library/${testImage}:latest` })
        assert.deepEqual(await run(service, named, look), ['yes\n/kept\n/workspace\n3\n'])
        await assert.rejects(
          inside({ base_image: '../containers/json?' }),
          /environment\.base_image/,
        )
        await assert.rejects(
          inside({ packages: { apt: ['jq'] } }),
          /environment\.packages\.apt: .* image/,
        )
        const npm = await turn(
          service,
          await inside({ packages: { npm: ['tiny-npm'] } }),
          bash('true'),
        )
        const { message } = only(npm, 'session.error')['error'] as { message: string }
        assert.match(message, /packages of npm could not be installed[^]*there is no npm/)
        const missing = await inside({ base_image: `${engine.registryAddress}/no/such:image` })
        const why = (await run(service, missing, 'echo ran')).join()
        assert.match(why, /image 127\.0\.0\.1:9\/no\/such:image cannot be fetched: /)
        assert.doesNotMatch(why, /ran\n/)
        const skills = [{ type: 'anthropic', skill_id: 'xlsx' }]
        const skilled = await inside({}, { skills })
        const said = await run(service, skilled, 'ls ~/.skills')
        assert.match(said.join(), /^xlsx\nthe programs of the skills xlsx need Node 20 or later/)
        const [warning] = all(await logOf(service, skilled), 'session.warning')
        assert.equal(warning?.['reason'], 'skill_needs_node')
      },
    )

    verifies(
      ['sandbox/containers/engine-away', 'workspace/replaced-told'],
      'do not start while the engine does not answer, report that, and start when it answers again',
      async () => {
        const session = await newSession(service, { tools })
        await run(service, session, 'echo kept >file')
        const [before] = await engine.containers(session)
        await engine.between.cut()
        const [said] = await run(service, session, 'cat file')
        assert.match(String(said), /the sandbox did not start; nothing was run.*the engine at/)
        assert.deepEqual(await engine.containers(session), [before])
        await engine.between.mend()
        const [again] = await run(service, session, 'cat file')
        assert.match(String(again), /^kept\n.*the sandbox was started anew/s)
        const after = await engine.containers(session)
        assert.ok(after.length === 1 && after[0] !== before)
      },
    )

    verifies(
      ['sandbox/containers/owner', 'workspace/checkpoint', 'workspace/replaced-told'],
      'end with the server that started them and with no other, and go on with its next start',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'steward-owners-'))
        const env = { ...engine.env, DATA_DIR: join(folder, 'data'), CHECKPOINTS: 'idle' }
        try {
          const staying = await newSession(service, { tools })
          await run(service, staying, 'kept=shell')
          const dying = await startServer(env)
          const session = await newSession(clientsOf(dying.base), { tools })
          const daemon = '(setsid sleep 600 &) >/dev/null 2>&1'
          await run(clientsOf(dying.base), session, `mkdir deep; echo one >deep/file; ${daemon}`)
          assert.equal((await engine.containers(session)).length, 1)
          await dying.kill()
          const isGone = async () => (await engine.containers(session)).length === 0
          await until('its container is gone', isGone)

          const elsewhere = join(folder, 'elsewhere')
          await using next = await startServer({ ...env, SANDBOX_DIR: elsewhere })
          const here = clientsOf(next.base)
          const look = 'echo two >>deep/file; cat deep/file; stat -c %U deep deep/file'
          const [restored] = await run(here, session, look)
          const told = /^one\ntwo\nuser\nuser\n.*was restored as it was at/s
          assert.match(String(restored), told)
          await here.client.beta.sessions.delete(session)
          const isCleared = async () => !(await readdir(elsewhere)).includes(session)
          await until('all is gone', async () => (await isCleared()) && (await isGone()))
          assert.deepEqual(await run(service, staying, 'echo $kept'), ['shell\n'])
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
      },
    )
  })
}

const inMemory = '/tmp /run /var/tmp /home/user /dev/shm /run/shell /kept'
/** Forks until the kernel refuses, and prints the number of forks. */
const sleepers = `perl -e 'for (1..200) { my $pid = fork; last unless defined $pid; if (!$pid) { sleep 30; exit } push @all, $pid } print scalar @all; kill 9, @all'`
