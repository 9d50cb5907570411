import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { systemClock } from '@steward/base/time.ts'
import type { ReceiverAnswer, PostReceiver } from '../receiver.ts'
import { startReceiver } from '../receiver.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { deliverSlack, slackMessage, slackSettings, slackStub } from '../slack.ts'
import { fresh } from '../turns.ts'
import { returnFrom } from '../github.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const kind = '/v1/ext/integrations/slack'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files of a chat on ${database}`, () => {
    let service: TestService
    let receiver: PostReceiver
    let publication: string
    let scopes = 'chat:write,files:write,im:history,users:read'
    const stub = slackStub('ws://127.0.0.1:9', { scopes: () => scopes })
    let passed = 0
    const clock = { ...systemClock, now: () => Date.now() + passed }
    before(async () => {
      receiver = await startReceiver()
      const { INTEGRATIONS_SLACK_APP_TOKEN: _, ...settings } = slackSettings(receiver.base)
      service = await boot(database, {
        env: { ...settings, FILES_LARGEST_MB: '1' },
        overrides: { clock },
      })
      receiver.answerWith((posted) => stub.answer(posted) ?? { status: 200 })
      publication = await publish()
    })
    after(async () => {
      await service.close()
      await receiver.close()
    })

    async function install(): Promise<string> {
      const begun = await service.ask('POST', `${kind}/install`, {})
      const state = new URL(String(begun.body['url'])).searchParams.get('state') ?? ''
      const query = new URLSearchParams({ code: 'a code', state })
      return (await returnFrom(service, 'slack', query)).body.id
    }

    async function publish(): Promise<string> {
      const tools = [{ type: 'agent_toolset_20260401' as const }]
      const { agents, environments } = service.client.beta
      const agent = await agents.create({ name: fresh('agent'), model: 'offline', tools })
      const environment = await environments.create({ name: fresh('place') })
      const made = await service.ask('POST', `${kind}/publications`, {
        ...{ agent: agent.id, environment_id: environment.id, installation_id: await install() },
        slack: { channels: [], authors: ['UADA'] },
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return `${kind}/publications/${made.body.id}`
    }

    const url = (name: string, base = `${receiver.base}/files-pri`) => `${base}/${name}`
    const file = (name: string, url_private: string, size = 10) => ({
      ...{ id: name, name, mimetype: 'text/plain', size, url_private },
    })

    /** The lines about files in the last message of the newest session. */
    async function toldOf(): Promise<string[]> {
      const [session] = (await service.client.beta.sessions.list()).data
      const events = (await service.client.beta.sessions.events.list(session?.id ?? '')).data
      const told = events.flatMap((each) => (each.type === 'user.message' ? each.content : []))
      const last = told.at(-1)
      const lines = last && 'text' in last ? last.text.split('\n').slice(1) : []
      return lines.map((line) => line.replace(/- \/mnt\/session\/uploads\/intdel_\w+/, ''))
    }

    verifies(
      'integrations/slack/files',
      'attachments of people are mounted once for the command that they ask for, and missing ones are named',
      async () => {
        const asked = slackMessage('run: cat /mnt/session/uploads/*/*/*', '1.1')
        const files = [
          file('report.txt', url('report.txt')),
          file('../closed.txt', url('closed.txt')),
          file('elsewhere.txt', url('x', 'https://evil.example')),
          file('large.txt', url('large.txt'), 9_000_000),
          file('', url('nameless.txt')),
          { id: 'tombstone' },
          file('other.txt', `${receiver.base}/slack/files/x`),
          ...Array.from({ length: 4 }, () => file('report.txt', url('report.txt'))),
        ]
        const payload = { ...asked, event: { ...asked.event, subtype: 'file_share', files } }
        await Promise.all([deliverSlack(service, payload), deliverSlack(service, payload)])
        await until(() => stub.messages.length === 1)
        const text = stub.messages[0]?.markdown_text ?? ''
        assert.match(text, /bytes of report\.txt\n/)
        const [session] = (await service.client.beta.sessions.list()).data
        assert.equal(session?.resources.length, 5)
        assert.deepEqual(await toldOf(), [
          '/1/report.txt',
          '- "closed.txt" could not be fetched: the app may not read files',
          '- "elsewhere.txt" could not be fetched: it lies elsewhere',
          '- "large.txt" could not be fetched: it is larger than 1048576 bytes',
          '/5/file-5',
          '- "file" could not be fetched: it has no address at the provider',
          '- "other.txt" could not be fetched: it lies elsewhere',
          ...Array.from({ length: 3 }, (_, at) => `/${at + 8}/report.txt`),
          '- "report.txt" could not be fetched: a message brings 10 files at most',
        ])
        assert.ok(!service.logged.join('').includes('xoxb-token'))
        const { data } = await service.client.beta.files.list()
        assert.equal(data.filter(({ filename }) => filename === 'report.txt').length, 8)
      },
    )

    verifies(
      'integrations/slack/files',
      'a file that does not come is asked for three times, and no redirect is followed with the token',
      async () => {
        const evil = `${receiver.base}/evil`
        const answers: Record<string, ReceiverAnswer> = {
          'moved.txt': { status: 302, headers: { location: evil } },
          'limited.txt': { status: 429, headers: { 'retry-after': '1' } },
          'failing.txt': { status: 500 },
          'broken.txt': {
            ...{ status: 200, body: 'half' },
            headers: { 'content-type': 'text/plain', 'content-length': '100' },
          },
        }
        const asked: string[] = []
        receiver.answerWith((posted) => {
          const name = posted.path.split('/').at(-1) ?? ''
          if (!posted.path.includes('/api/')) asked.push(name)
          return answers[name] ?? stub.answer(posted) ?? { status: 200 }
        })
        const names = ['report.txt', ...Object.keys(answers)]
        const { event, ...outer } = slackMessage('say: Here.', '2.1')
        const files = names.map((name) => file(name, url(name)))
        await deliverSlack(service, { ...outer, event: { ...event, subtype: 'file_share', files } })
        for (const begun of [1, 2]) {
          await until(async () => {
            const rows = service.tenantDatabase.read.selectFrom('integration_deliveries')
            const kept = await rows.select('begun').where('scope', '=', 'D1:2.1').execute()
            return kept[0]?.begun === begun
          })
          passed += 20_000
          await service.ask('POST', `${publication}/unpause`)
        }
        await until(() => stub.messages.some(({ markdown_text }) => markdown_text === 'Here.'))
        assert.deepEqual(await toldOf(), [
          '/1/report.txt',
          '- "moved.txt" could not be fetched: the provider answers 302',
          '- "limited.txt" could not be fetched: the provider answers 429',
          '- "failing.txt" could not be fetched: the provider answers 500',
          '- "broken.txt" could not be fetched: the provider broke off',
        ])
        const timesOf = (name: string) => asked.filter((each) => each === name).length
        assert.deepEqual([...names, 'evil'].map(timesOf), [1, 3, 3, 1, 1, 0])
      },
    )

    verifies(
      'integrations/slack/outputs',
      'the outputs of an agent come into the thread once, in one message a turn',
      async () => {
        // Slack creates the message, and its answer is lost.
        let isLost = false
        receiver.answerWith((posted) => {
          const answered = stub.answer(posted) ?? { status: 200 }
          if (isLost || !posted.path.endsWith('completeUploadExternal')) return answered
          isLost = true
          return null
        })
        const inThread = (ts: string) => stub.messages.filter((each) => each.thread_ts === ts)
        const withFiles = () => inThread('3.1').filter(({ files }) => files)
        const folder = '/mnt/session/outputs'
        const many = `for n in 10 11 12 13 14 15 16 17 18 19 20; do echo $n > ${folder}/$n.txt; done`
        await deliverSlack(service, slackMessage(`run: ${many}`, '3.1'))
        await until(() => isLost)
        await deliverSlack(service, slackMessage(`run: echo new > ${folder}/10.txt`, '3.2', '3.1'))
        passed += 100_000
        await until(async () => {
          await service.ask('POST', `${publication}/unpause`)
          return withFiles().length === 2
        })
        const [first, second] = withFiles().map(({ files = [] }) => files)
        assert.equal(first?.length, 10)
        assert.equal(withFiles()[0]?.text?.split('\n').length, 2, 'the eleventh is named')
        assert.match(withFiles()[0]?.text ?? '', /1\d\.txt \(file_\w+\)|20\.txt \(file_\w+\)/)
        assert.deepEqual(
          second?.map(({ title }) => title),
          ['10.txt'],
        )
        assert.equal(stub.bytes.get(second?.[0]?.id ?? ''), 'new\n')

        // The service sends the bytes to Slack only, even when an answer of Slack names another host.
        const elsewhere = `${receiver.base.replace('127.0.0.1', 'localhost')}/slack/files/upload/F99`
        const named = JSON.stringify({ ok: true, file_id: 'F99', upload_url: elsewhere })
        receiver.answerWith((posted) =>
          posted.path.endsWith('getUploadURLExternal')
            ? { status: 200, body: named }
            : (stub.answer(posted) ?? { status: 200 }),
        )
        await deliverSlack(service, slackMessage(`run: echo x > ${folder}/x.txt`, '5.1'))
        await until(() => service.logged.join('').includes('named no place of its own'))
        assert.ok(!stub.bytes.has('F99'))

        // The app was installed before the scope for files existed, and says so once.
        scopes = 'chat:write,im:history,users:read'
        await install()
        for (const n of [1, 2]) {
          const asked = `run: echo ${n} > ${folder}/a.txt`
          await deliverSlack(service, slackMessage(asked, `4.${n}`, n === 1 ? undefined : '4.1'))
          await until(() => inThread('4.1').length === n + 1)
        }
        const told = inThread('4.1').map(({ markdown_text = '' }) => markdown_text)
        assert.equal(told.filter((text) => text.includes('`files:write`')).length, 1)
        assert.ok(!service.logged.join('').includes('xoxb-token'))
      },
    )
  })
}
