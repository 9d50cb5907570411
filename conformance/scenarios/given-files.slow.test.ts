/** Files that are given to sessions, as the agents of the sessions find them. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError, toFile } from '@anthropic-ai/sdk'
import { uploadFile } from '../files.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { logOf, newSession, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401', default_config: { enabled: true } }]

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files in sandboxes on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())
    const upload = async (content: string, name = 'a.txt') =>
      service.client.files.upload({ file: await toFile(Buffer.from(content), name) })
    const use = async (session: string, tool: string, input: object): Promise<string> => {
      const events = await turn(service, session, `call ${tool} ${JSON.stringify(input)}`)
      return textOf(only(events, 'agent.tool_result'))
    }
    const run = (session: string, command: string) => use(session, 'bash', { command })
    const withFiles = (...resources: object[]) =>
      newSession(
        service,
        { tools },
        { resources: resources.map((each) => ({ type: 'file', ...each })) },
      )

    verifies(
      ['sessions/create/resources', 'resources/file', 'resources/file/link'],
      'lie at their mount paths, and cannot be changed from there',
      async () => {
        const [one, two] = [await upload('first\n', 'it is.txt'), await upload('second\n')]
        const givenPaths = [
          "/workspace/in/it's.txt",
          '/home/user/b',
          '/mnt/session/uploads/c/d.txt',
        ]
        const session = await withFiles(
          { file_id: one.id },
          ...givenPaths.map((mount_path) => ({ file_id: two.id, mount_path })),
        )
        const { resources } = await service.client.beta.sessions.retrieve(session)
        const paths = resources.map((each) => ('mount_path' in each ? each.mount_path : ''))
        assert.deepEqual(new Set(paths), new Set([`/mnt/session/uploads/${one.id}`, ...givenPaths]))
        const listed = paths.map((path) => `"${path}"`).join(' ')
        assert.equal(await run(session, `cat ${listed} | sort`), 'first\nsecond\nsecond\nsecond\n')
        const tries = `for f in ${listed}; do echo x >>"$f"; chmod 666 "$f"; done; echo ok`
        assert.match(await run(session, `${tries} 2>/dev/null`), /ok\n$/)
        assert.equal(await run(session, `cat ${listed} | sort`), 'first\nsecond\nsecond\nsecond\n')
        for (const file_path of paths)
          assert.match(await use(session, 'read', { file_path }), /first|second/)
      },
    )

    verifies(
      'sessions/create/resources',
      'are not given by a session that names one of nobody or of another workspace',
      async () => {
        const other = await service.otherWorkspace('others')
        const client = service.client.withOptions({ apiKey: other.key })
        const foreign = await client.files.upload({ file: await toFile(Buffer.from('x'), 'x') })
        const { data: before } = await service.client.beta.sessions.list()
        for (const file_id of ['file_none', foreign.id])
          await assert.rejects(withFiles({ file_id }), NotFoundError)
        const { id } = await upload('x')
        const [mount_path, below] = ['/workspace/a', '/workspace/a/b']
        for (const path of [mount_path, below, '/etc/../a'])
          await assert.rejects(
            withFiles({ file_id: id, mount_path }, { file_id: id, mount_path: path }),
            BadRequestError,
          )
        const { data: after } = await service.client.beta.sessions.list()
        assert.equal(after.length, before.length)
      },
    )

    verifies(
      ['resources/file/resolved'],
      'lie below the uploads when their paths say nothing else, and a linked one lies there too',
      async () => {
        const { id: file_id } = await upload('a,b\n', 'data.csv')
        const paths = ['data.csv', '/uploads/receipt.pdf', 'logs/a.log', '/workspace/in/d.csv']
        const session = await withFiles(...paths.map((mount_path) => ({ file_id, mount_path })))
        const below = ['data.csv', 'uploads/receipt.pdf', 'logs/a.log', 'workspace/in/d.csv']
        const all = below.map((path) => `/mnt/session/uploads/${path}`)
        const said = await run(session, `cat ${all.join(' ')} /workspace/in/d.csv`)
        assert.equal(said, 'a,b\n'.repeat(5))
        const [file_path] = all
        assert.match(await use(session, 'read', { file_path }), /a,b/)
      },
    )

    verifies(
      ['resources/file/live'],
      'that are mounted while the session runs are reported with any result, and not once they are removed',
      async () => {
        const session = await newSession(service, { tools })
        const { resources } = service.client.beta.sessions
        await run(session, 'echo one > one')
        const { id: file_id } = await upload('given\n')
        const add = (mount_path: string) =>
          resources.add(session, { type: 'file', file_id, mount_path })
        await add('first')
        const read = { file_path: '/workspace/one' }
        const told = /A file was given: \/mnt\/session\/uploads\/first$/
        assert.match(await use(session, 'read', read), told)
        const gone = await add('second')
        await resources.delete(gone.id, { session_id: session })
        assert.doesNotMatch(await use(session, 'read', read), /was given/)
        await add('third')
        // `web_fetch` reaches no host here. Its result is an error and still names the new file.
        const fetched = await use(session, 'web_fetch', { url: 'https://nowhere.invalid/' })
        assert.match(fetched, /A file was given: \/mnt\/session\/uploads\/third$/)
      },
    )

    verifies(
      ['files/upload/mounted', 'sandbox/path/files'],
      'appear where they were uploaded for a session that runs, and go when they are deleted',
      async () => {
        const session = await newSession(service, { tools })
        assert.equal(await run(session, 'echo $$ > /tmp/same; ls /home/user/files'), '(no output)')
        const made = await uploadFile(service, {
          name: 'notes.md',
          content: 'hello\n',
          fields: { session_id: session },
        })
        const path = `/home/user/files/${made.id}/notes.md`
        const said = await run(session, `ls /tmp/same && cat ${path}`)
        assert.equal(said, `/tmp/same\nhello\nA file was given: ${path}`)
        assert.equal(await run(session, `ls -l ${path} | cut -c1-10`), '-rw-r--r--\n')
        await service.client.files.delete(made.id)
        assert.equal(
          await run(session, 'ls /tmp/same /home/user/files'),
          '/tmp/same\n\n/home/user/files:\n',
        )
        assert.ok(!(await logOf(service, session)).some(({ type }) => type === 'session.warning'))
      },
    )

    verifies(
      ['resources/add', 'resources/delete', 'resources/file/live', 'resources/file/link'],
      'are mounted in a session that runs and are removed with its resources',
      async () => {
        const session = await newSession(service, { tools })
        const { resources } = service.client.beta.sessions
        await run(session, 'mkdir taken && echo mine > taken/a')
        const { id: file_id } = await upload('given\n')
        const add = (mount_path: string) =>
          resources.add(session, { type: 'file', file_id, mount_path })
        const paths = ['/workspace/new/a', '/home/user/a', '/mnt/session/uploads/a/b']
        const added = []
        for (const path of paths) added.push(await add(path))
        await add('/workspace/taken/a')
        const said = await run(session, `cat ${paths.join(' ')} taken/a`)
        assert.match(said, /^given\ngiven\ngiven\nmine\n/)
        assert.match(said, /A file was given: \/workspace\/new\/a\n/)
        assert.match(
          said,
          /Something else is at \/workspace\/taken\/a: .*\/home\/user\/files\/file_/,
        )
        for (const { id } of added) await resources.delete(id, { session_id: session })
        const gone = await run(session, `ls -d ${paths.join(' ')} 2>&1; cat taken/a`)
        assert.match(gone, /(.*No such file.*\n){3}mine\n$/)
        const again = await add('/mnt/session/uploads/a')
        assert.match(await run(session, 'cat /mnt/session/uploads/a'), /^given\n/)
        await resources.delete(again.id, { session_id: session })
        await service.client.files.delete(file_id)
      },
    )
  })
}

describe('files without isolation', () => {
  verifies(
    ['resources/file', 'resources/file/link', 'sandbox/path/files'],
    'lie in the folder of the session, and at their paths for the file tools',
    async () => {
      const env = { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' }
      const service = await boot('sqlite', { env })
      const { id: file_id } = await service.client.files.upload({
        file: await toFile(Buffer.from('given\n'), 'a.txt'),
      })
      const resources = ['/workspace/in/a', '/home/user/a', '/mnt/session/uploads/a'].map(
        (mount_path) => ({ type: 'file', file_id, mount_path }),
      )
      const session = await newSession(service, { tools }, { resources })
      const use = async (tool: string, input: object) => {
        const events = await turn(service, session, `call ${tool} ${JSON.stringify(input)}`)
        return textOf(only(events, 'agent.tool_result'))
      }
      assert.equal(await use('bash', { command: 'cat in/a' }), 'given\n')
      const shown = await service.client.beta.sessions.retrieve(session)
      const home = shown.resources.find(
        (each) => each.type === 'file' && each.mount_path === '/home/user/a',
      )
      assert.ok(home?.type === 'file')
      for (const file_path of [
        '/workspace/in/a',
        '/mnt/session/uploads/a',
        `/home/user/files/${home.file_id}/a.txt`,
      ])
        assert.match(await use('read', { file_path }), /given/)
      const write = { file_path: '/mnt/session/uploads/a', content: 'x' }
      assert.match(await use('write', write), /read-only/)
      await service.close()
    },
  )
})
