/** Templates, environments, skills and vaults of `/openai/v1`, by its unmodified client. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type OpenAI from 'openai'
import { BadRequestError, ConflictError, NotFoundError, toFile } from 'openai'
import { uploadFile } from '../files.ts'
import { newestOpenAI, oldestOpenAI } from '../openai.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { skillText } from '../skills.ts'
import { fresh } from '../turns.ts'
import { verifies } from '../verifies.ts'

const inputFile = (file_id: string, path: string) => ({ type: 'file_id', file_id, path }) as const

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`environments of the OpenAI surface on ${database}`, () => {
    let service: TestService
    let client: OpenAI
    let environments: OpenAI['beta']['agents']['environments']
    before(async () => {
      service = await boot(database, { env: { FILES_UPLOADS_DOWNLOADABLE: 'true' } })
      client = newestOpenAI(service)
      environments = client.beta.agents.environments
    })
    after(() => service.close())

    const idsOf = async (list: AsyncIterable<{ id: string }>): Promise<string[]> =>
      (await Array.fromAsync(list)).map(({ id }) => id)
    const upload = async (content: string) => (await uploadFile(service, { content })).id
    async function run(
      environment: OpenAI.Beta.Agents.SessionCreateParams['environment'],
      input: string,
    ) {
      const created = await client.beta.agents.sessions.create({
        ...{ agent: { model: 'offline' }, environment, input, stream: true },
      })
      return created.finalResult()
    }

    verifies(
      [
        'openai/templates/create',
        'openai/templates/get',
        'openai/templates/list',
        'openai/templates/update',
        'openai/templates/delete',
        'openai/environments/mounts',
      ],
      'a template is made, changed, used by a session and deleted',
      async () => {
        const { templates } = environments
        const file = await upload('of the template')
        const made = await templates.create({
          env: { WORD: 'said' },
          files: [inputFile(file, '/workspace/given.txt')],
          network: { access: 'restricted', allowed_domains: ['example.com'] },
        })
        assert.equal(made.object, 'agent.environment.template')
        assert.equal(made.name, null)
        assert.deepEqual(made.network, { access: 'restricted', allowed_domains: ['example.com'] })
        assert.deepEqual(await templates.retrieve(made.id), made)
        const other = await templates.create({ name: fresh('template') })
        for (const each of [client, oldestOpenAI(service)]) {
          const found: string[] = []
          for await (const { id } of each.beta.agents.environments.templates.list({ limit: 1 }))
            found.push(id)
          assert.deepEqual(found.slice(0, 2), [other.id, made.id])
        }
        const changed = await templates.update(made.id, { network: null, name: fresh('named') })
        assert.deepEqual(changed.network, { access: 'enabled', allowed_domains: [] })
        assert.deepEqual(changed.files, made.files)
        const kept = await service.client.beta.environments.retrieve(made.id)
        assert.equal(kept.name, changed.name)
        assert.ok(!('mounts' in kept))
        const { output_text, session_id } = await run(
          { type: 'openai_hosted', environment_template_id: made.id },
          'run: echo $WORD; cat /workspace/given.txt',
        )
        assert.match(output_text, /said\s+of the template/)
        const { environment } = await client.beta.agents.sessions.retrieve(session_id)
        assert.equal(environment.type, 'openai_hosted')
        assert.deepEqual(
          environment.files.map(({ path }) => path),
          ['/workspace/given.txt'],
        )
        assert.deepEqual(await templates.delete(made.id), {
          ...{ id: made.id, deleted: true, object: 'agent.environment.template.deleted' },
        })
        await assert.rejects(templates.retrieve(made.id), NotFoundError)
        await assert.rejects(templates.create({ name: other.name }), ConflictError)
        for (const [fields, param] of [
          [{ plugins: [{}] }, 'plugins'],
          [{ setup_commands: [{ command: 'x', cwd: 'x' }] }, 'setup_commands.0.cwd'],
          [{ files: [{ type: 'inline', data: '?', path: '/workspace/x' }] }, 'files.0.data'],
          [{ colour: 'red' }, 'colour'],
          [{ files: [inputFile(file, '/workspace/../x')] }, 'files.0.path'],
          [
            { files: [inputFile(file, '/workspace/a'), inputFile(file, '/workspace/a/b')] },
            'files.1.path',
          ],
        ] as const)
          await assert.rejects(
            client.post('/agents/environments/templates', { body: fields }),
            (error: unknown) => error instanceof BadRequestError && error.param === param,
          )
        const never = inputFile('file_of_nobody', '/workspace/x')
        await assert.rejects(templates.create({ files: [never] }), NotFoundError)
      },
    )

    verifies(
      [
        'openai/environments/create',
        'openai/environments/get',
        'openai/environments/list',
        'openai/environments/add-file',
        'openai/environments/files',
        'openai/environments/idempotency',
        'openai/environments/mounts',
      ],
      'an environment is made before its session, with files that come later',
      async () => {
        const files = [{ filename: 'SKILL.md', content: skillText('counting', 'counts', 'Count.') }]
        const { body: skill } = await service.ask('POST', '/v1/skills', { files })
        const environment: OpenAI.Beta.Agents.EnvironmentCreateParams['environment'] = {
          type: 'openai_hosted',
          skills: [{ type: 'skill_reference', skill_id: skill.id }],
        }
        const key = fresh('key')
        const made = await environments.create({ environment, 'Idempotency-Key': key })
        assert.deepEqual([made.object, made.status], ['agent.environment', 'ready'])
        const words = { name: 'counting', description: 'Count.' }
        assert.partialDeepStrictEqual(made.skills, [words])
        const again = await environments.create({ environment, 'Idempotency-Key': key })
        assert.equal(again.id, made.id)
        const another = { environment: { type: 'openai_hosted' }, 'Idempotency-Key': key } as const
        await assert.rejects(environments.create(another), ConflictError)
        const file = await upload('later')
        const paths = ['/workspace/b.txt', '/workspace/a.txt', '/workspace/deep/c.txt']
        for (const path of paths) {
          const added = await environments.files.create(made.id, inputFile(file, path))
          assert.deepEqual(added, {
            ...{ object: 'agent.environment.file', environment_id: made.id },
            ...{ path, size_bytes: 5 },
          })
        }
        const twice = environments.files.create(made.id, inputFile(file, '/workspace/a.txt'))
        await assert.rejects(twice, ConflictError)
        const above = environments.files.create(made.id, inputFile(file, '/workspace/a.txt/b'))
        await assert.rejects(above, { status: 400, param: 'path' })
        const found: string[] = []
        for await (const { path } of environments.files.list(made.id, { limit: 1 }))
          found.push(path)
        assert.deepEqual(found, paths.toSorted())
        const below = await environments.files.list(made.id, { path: '/workspace/deep/' })
        assert.equal(below.data.length, 1)
        const ids: string[] = []
        for await (const { id } of environments.list({ limit: 1 })) ids.push(id)
        assert.ok(ids.includes(made.id))
        const named = { type: 'openai_hosted', environment_id: made.id } as const
        const { session_id, output_text } = await run(named, 'run: cat /workspace/deep/c.txt')
        assert.match(output_text, /later/)
        const { environment: used } = await client.beta.agents.sessions.retrieve(session_id)
        assert.partialDeepStrictEqual(used, { skills: [words] })
        const session = await service.client.beta.sessions.retrieve(session_id)
        assert.equal(session.environment_id, made.id)
        assert.deepEqual(
          session.agent.skills.map(({ skill_id }) => skill_id),
          [skill.id],
        )
      },
    )

    verifies(
      ['openai/environments/list', 'openai/lists', 'openai/environments/mounts'],
      'a filter that matches nothing is an empty list; a long page and a path elsewhere are refused by name',
      async () => {
        const none = await service.ask('GET', '/openai/v1/agents/environments?type=self_hosted')
        assert.deepEqual([none.status, none.body['data']], [200, []])
        const ofNobody = await client.beta.agents.automations.list({ session_id: 'nobody' })
        assert.deepEqual(ofNobody.data, [])
        await assert.rejects(environments.list({ limit: 101 }), { status: 400, param: 'limit' })
        const file = await upload('elsewhere')
        for (const path of ['relative.txt', '/etc/x.txt', '/tmp/c.txt', '/workspace/']) {
          const files = [inputFile(file, path)]
          const refused = { status: 400, param: 'files.0.path' }
          await assert.rejects(environments.templates.create({ files }), refused, path)
        }
      },
    )

    verifies(
      ['openai/environments/idempotency', 'openai/sessions/environment'],
      'a repeated creation answers its environment, whatever its name is by then, and a key lives for a day',
      async () => {
        const key = { 'idempotency-key': fresh('key') }
        const path = '/openai/v1/agents/environments'
        const hosted = { agent: { model: 'offline' }, environment: { type: 'openai_hosted' } }
        const { environment } = hosted
        const create = async () => (await service.ask('POST', path, { environment }, key)).body
        const races = await Promise.all(Array.from({ length: 5 }, create))
        const { id } = await create()
        assert.deepEqual([...new Set(races.map((each) => each.id))], [id])
        await environments.templates.update(id, { name: fresh('renamed') })
        assert.equal((await create()).id, id)
        const other = { 'x-api-key': (await service.otherWorkspace(fresh('stranger'))).key }
        const foreign = await service.ask('POST', path, { environment }, { ...key, ...other })
        assert.equal(foreign.status, 200)
        assert.notEqual(foreign.body.id, id)
        await service.tenantDatabase.write((tx) =>
          tx.updateTable('idempotency_keys').set({ created_ms: 1 }).execute(),
        )
        assert.ok(![id, foreign.body.id].includes((await create()).id))
        const sessions = '/openai/v1/agents/sessions'
        const own = await service.ask('POST', sessions, hosted)
        const { id: environment_id } = own.body['environment'] as { id: string }
        for (const env of [undefined, { WORD: 'x' }]) {
          const taken = { ...hosted, environment: { ...environment, environment_id, env } }
          const late = await service.ask('POST', sessions, taken)
          assert.equal(late.status, 400, JSON.stringify(late.body))
        }
      },
    )

    verifies(
      [
        'openai/files/create',
        'openai/files/list',
        'openai/files/get',
        'openai/files/content',
        'openai/files/delete',
        'openai/files/fields',
        'openai/environments/add-file',
      ],
      'files are uploaded, prepared and put into an environment by the helpers of the client',
      async () => {
        const file = new File(['from the client'], 'notes.txt')
        const expires_after = { anchor: 'created_at', seconds: 3600 } as const
        const made = await client.files.create({ file, purpose: 'assistants', expires_after })
        assert.deepEqual(
          [made.object, made.bytes, made.filename, made.purpose],
          ['file', 15, 'notes.txt', 'user_data'],
        )
        assert.equal(made.expires_at, made.created_at + 3600)
        assert.deepEqual(await client.files.retrieve(made.id), made)
        assert.equal(await (await client.files.content(made.id)).text(), 'from the client')
        const { id } = await environments.create({ environment: { type: 'openai_hosted' } })
        const path = '/workspace/notes.txt'
        const { uploadedFile, environmentFile } = await environments.files.upload(id, {
          file,
          path,
        })
        assert.deepEqual([environmentFile.path, environmentFile.size_bytes], [path, 15])
        const prepared = await environments.files.prepare({ '/workspace/more.txt': file })
        const input = 'run: cat /workspace/notes.txt /workspace/more.txt'
        const hosted = { type: 'openai_hosted', environment_template_id: id } as const
        const { output_text } = await run({ ...hosted, files: prepared.files }, input)
        assert.match(output_text, /(from the client){2}/)
        const ids: string[] = []
        for await (const each of client.files.list({ limit: 1 })) ids.push(each.id)
        assert.ok([made.id, uploadedFile.id].every((each) => ids.includes(each)))
        assert.equal((await client.files.delete(made.id)).deleted, true)
        await assert.rejects(client.files.retrieve(made.id), NotFoundError)
        await assert.rejects(client.files.create({ file, purpose: 'fine-tune' }), BadRequestError)
      },
    )

    verifies(
      ['openai/environments/add-file', 'openai/environments/get'],
      'a file comes into the sandbox of the one session that has the environment',
      async () => {
        const { session_id } = await run({ type: 'openai_hosted' }, 'say: begun')
        const session = await client.beta.agents.sessions.retrieve(session_id)
        assert.equal(session.environment.type, 'openai_hosted')
        const { id } = session.environment
        const file = await upload('for this session')
        await environments.files.create(id, inputFile(file, '/workspace/mine.txt'))
        const { output_text } = await client.beta.agents.sessions
          .stream(session_id, { input: 'run: cat /workspace/mine.txt' })
          .finalResult()
        assert.match(output_text, /for this session/)
        const listed = await environments.files.list(id)
        assert.deepEqual(
          listed.data.map(({ path, size_bytes }) => [path, size_bytes]),
          [['/workspace/mine.txt', 16]],
        )
        assert.equal((await environments.retrieve(id)).status, 'ready')
        await client.beta.agents.sessions.delete(session_id)
        assert.equal((await environments.retrieve(id)).status, 'expired')
        const late = environments.files.create(id, inputFile(file, '/workspace/late.txt'))
        await assert.rejects(late, BadRequestError)
      },
    )

    verifies(
      ['openai/vaults', 'openai/credentials'],
      'vaults hold credentials, and show no secret',
      async () => {
        const { agents } = client.beta
        const { vaults } = agents
        const mark = fresh('mark')
        const vault = await vaults.create({ name: ' Keys ', metadata: { mark } })
        assert.equal(vault.name, 'Keys')
        const other = await vaults.create({ metadata: { mark } })
        assert.equal(other.name, null)
        const found = await idsOf(vaults.list({ metadata: { mark }, limit: 1, status: ['active'] }))
        assert.deepEqual(found, [other.id, vault.id])
        const changed = await vaults.update(vault.id, { metadata: { more: 'x' } })
        assert.deepEqual(changed.metadata, { more: 'x' })
        assert.deepEqual(await vaults.retrieve(vault.id), changed)
        const secret = 'a-token-that-nobody-shows'
        const credential = await vaults.credentials.create(vault.id, {
          name: 'Tracker',
          auth: {
            type: 'environment_variable',
            secret_name: 'TRACKER_TOKEN',
            secret_value: secret,
            networking: { type: 'limited', allowed_hosts: ['tracker.example.com'] },
          },
        })
        const of = { vault_id: vault.id }
        const kept = await vaults.credentials.retrieve(credential.id, of)
        assert.deepEqual(kept, credential)
        assert.ok(!JSON.stringify(kept).includes(secret))
        assert.ok(!('injection_location' in kept.auth))
        const rotated = await vaults.credentials.update(credential.id, {
          ...of,
          auth: { type: 'environment_variable', secret_value: 'another-token' },
          metadata: { mark },
        })
        assert.deepEqual(rotated.metadata, { mark })
        const listed = await idsOf(vaults.credentials.list(vault.id, { metadata: { mark } }))
        assert.deepEqual(listed, [credential.id])
        const stream = await agents.sessions.create({
          agent: { model: 'offline' },
          environment: { type: 'openai_hosted' },
          vault_ids: [vault.id],
          input: 'run: echo "${TRACKER_TOKEN:+the variable is set}"',
          stream: true,
        })
        assert.match((await stream.finalResult()).output_text, /the variable is set/)
        assert.equal(
          (await vaults.credentials.delete(credential.id, of)).object,
          'vault.credential.deleted',
        )
        assert.equal((await vaults.delete(vault.id)).object, 'vault.deleted')
        await assert.rejects(vaults.retrieve(vault.id), NotFoundError)
      },
    )

    verifies(
      [
        'openai/skills/create',
        'openai/skills/list',
        'openai/skills/get',
        'openai/skills/update',
        'openai/skills/content',
        'openai/skills/delete',
        'openai/skills/versions',
      ],
      'a skill is uploaded, used by a session, given a version and deleted',
      async () => {
        const { skills } = client
        const filesOf = async (word: string) => [
          await toFile(Buffer.from(skillText('greeter', 'Greets', word)), 'greeter/SKILL.md'),
        ]
        const made = await skills.create({ files: await filesOf('first word') })
        assert.deepEqual([made.object, made.name], ['skill', 'greeter'])
        assert.deepEqual(await skills.retrieve(made.id), made)
        const { output_text } = await run(
          {
            type: 'openai_hosted',
            skills: [{ type: 'skill_reference', skill_id: made.id }],
          },
          'run: cat /home/user/.skills/greeter/SKILL.md',
        )
        assert.match(output_text, /first word/)
        const next = await skills.versions.create(made.id, {
          files: await filesOf('second word'),
          default: true,
        })
        assert.equal((await skills.retrieve(made.id)).default_version, next.version)
        const of = { skill_id: made.id }
        assert.deepEqual(await skills.versions.retrieve(next.version, of), next)
        const listed = await Array.fromAsync(skills.versions.list(made.id, { limit: 1 }))
        assert.deepEqual(
          listed.map(({ version }) => version),
          [next.version, made.latest_version],
        )
        const bytes = async (content: Promise<Response>) =>
          Buffer.from(await (await content).arrayBuffer())
        const newest = await bytes(skills.content.retrieve(made.id))
        assert.equal(newest.subarray(0, 2).toString(), 'PK')
        assert.deepEqual(await bytes(skills.versions.content.retrieve(next.version, of)), newest)
        const older = { default_version: made.latest_version }
        await assert.rejects(skills.update(made.id, older), BadRequestError)
        const kept = await skills.update(made.id, { default_version: next.version })
        assert.equal(kept.default_version, next.version)
        const late = { files: await filesOf('x'), default: false }
        await assert.rejects(skills.versions.create(made.id, late), BadRequestError)
        const gone = await skills.versions.delete(next.version, of)
        assert.deepEqual([gone.object, gone.version], ['skill.version.deleted', next.version])
        assert.ok((await idsOf(skills.list({ limit: 1, order: 'asc' }))).includes(made.id))
        assert.equal((await skills.delete(made.id)).object, 'skill.deleted')
        await assert.rejects(skills.retrieve(made.id), NotFoundError)
      },
    )
  })
}
