/** Files that messages name, in the form that the model gets. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { BadRequestError, NotFoundError, toFile } from '@anthropic-ai/sdk'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { PostedEvent } from '../turns.ts'
import { custom, fresh, newSession, only, post, say, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

type ShownContent = Extract<PostedEvent, { type: 'user.message' }>['content']

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`files in messages on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
      stub.replies({ blocks: [{ type: 'text', pieces: ['seen'] }], stop: 'end_turn' })
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })
    const upload = async (content: string | Buffer, name: string, type = '') => {
      const file = await toFile(Buffer.from(content), name, { type })
      return (await service.client.files.upload({ file })).id
    }
    const image = (file_id: string) =>
      ({ type: 'image', source: { type: 'file', file_id } }) as const
    const document = (file_id: string) =>
      ({ type: 'document', source: { type: 'file', file_id }, title: 'notes' }) as const
    const message = (content: object[]): PostedEvent => ({
      type: 'user.message',
      content: content as ShownContent,
    })
    async function session(agent: object = {}): Promise<string> {
      const model_id = fresh('handle').replace(' ', '-')
      const made = await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id, model: 'stub-1', base_url: stub.url, api_key: 'none-needed' },
        ...{ provider: 'ant-compatible', native_config: { input: ['text', 'image'] } },
      })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return newSession(service, { model: { id: model_id }, ...agent })
    }
    const shown = () => JSON.stringify(stub.requests.at(-1)?.body['messages'])

    verifies(
      ['events/post/file-source', 'events/post/file-source-shown'],
      'are given to the model: images, PDF and text, and the log names them',
      async () => {
        const id = await session()
        const pdf = `%PDF-1.4 ${fresh('pdf')}`
        const content = [
          image(await upload(pixel, 'a.png')),
          document(await upload(pdf, 'a.pdf', 'application/pdf')),
          document(await upload('a;b\nünï;1\n', 'a.csv', 'text/csv')),
        ]
        const events = await turn(service, id, message(content))
        assert.deepEqual(only(events, 'user.message')['content'], content)
        const body = shown()
        assert.match(body, /"image\/png"/)
        assert.ok(body.includes(pixel.toString('base64')))
        assert.ok(body.includes(Buffer.from(pdf).toString('base64')))
        assert.match(body, /a;b\\nünï;1/)
        for (const { source } of content) await service.client.files.delete(source.file_id)
        await turn(service, id, 'and now?')
        assert.ok(shown().includes(pixel.toString('base64')), 'it was shown before')
      },
    )

    verifies(
      ['events/post/file-source-shown'],
      'that are deleted when a message is read, or hold no text, are named so to the model',
      async () => {
        const agent = { tools: [custom] }
        stub.replies(
          {
            blocks: [{ type: 'tool_call', id: 'toolu_1', name: custom.name, pieces: ['{}'] }],
            stop: 'tool_use',
          },
          { blocks: [{ type: 'text', pieces: ['seen'] }], stop: 'end_turn' },
        )
        const id = await session(agent)
        stub.replies(
          {
            blocks: [{ type: 'tool_call', id: 'toolu_1', name: custom.name, pieces: ['{}'] }],
            stop: 'tool_use',
          },
          { blocks: [{ type: 'text', pieces: ['seen'] }], stop: 'end_turn' },
        )
        const asked = await turn(service, id, 'ask')
        const [gone, binary] = [
          await upload('x', 'x.txt', 'text/plain'),
          await upload(Buffer.from([0xff, 0xfe]), 'b.txt', 'text/plain'),
        ]
        await post(service, id, message([document(gone), document(binary)]))
        await service.client.files.delete(gone)
        const call = only(asked, 'agent.custom_tool_use').id
        await turn(service, id, {
          type: 'user.custom_tool_result',
          custom_tool_use_id: call,
          content: [{ type: 'text', text: 'done' }],
        })
        while (!shown().includes('file_')) await turn(service, id, 'go on')
        assert.match(shown(), /\[document file_\w+: the file is gone\]/)
        assert.match(shown(), /\[document file_\w+: it is no text in UTF-8\]/)
      },
    )

    verifies(
      ['events/post/file-source'],
      'are refused when they are not there, another workspace’s, another kind or too large',
      async () => {
        const id = await session()
        const other = await service.otherWorkspace('others')
        const theirs = await service.client
          .withOptions({ apiKey: other.key })
          .files.upload({ file: await toFile(pixel, 'a.png') })
        const before = await say(service, id)
        const send = (...content: object[]) => post(service, id, 'fine', message(content))
        for (const file_id of ['file_none', theirs.id])
          await assert.rejects(send(image(file_id)), NotFoundError)
        const zip = await upload('PK', 'a.zip')
        const png = await upload(pixel, 'a.png')
        for (const block of [image(zip), document(zip), document(png)])
          await assert.rejects(send(block), BadRequestError)
        const most = 20 * 1024 * 1024
        const large = await upload(Buffer.alloc(most + 1, 'a'), 'a.txt')
        await assert.rejects(send(document(large)), /larger than 20971520/)
        const half = await upload(Buffer.alloc(16 * 1024 * 1024, 'a'), 'a.txt')
        const one = await upload('1', 'a.txt')
        await assert.rejects(
          send(document(half), document(half), document(one)),
          /more than 33554432 bytes together/,
        )
        assert.deepEqual(await say(service, id), before)
        const initial_events = [message([image('file_none')])]
        await assert.rejects(newSession(service, {}, { initial_events }), NotFoundError)
      },
    )
  })
}
