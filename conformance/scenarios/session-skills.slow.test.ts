import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import { anthropicDialect } from '@steward/model/stubs/stub-anthropic.ts'
import type { StubAnswer, StubModel } from '@steward/model/stubs/stub-server.ts'
import { startStub } from '@steward/model/stubs/stub-server.ts'
import type { Skill } from '@steward/protocol/skills.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { sendBody, skillForm, skillText } from '../skills.ts'
import type { SeenEvent } from '../turns.ts'
import { all, fresh, logOf, newSession, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

const tools = [{ type: 'agent_toolset_20260401' }]
const ok: StubAnswer = {
  blocks: [{ type: 'text', pieces: ['OK'] }],
  stop: 'end_turn',
  usage: { input: 10, output: 1 },
}
const custom = (skill_id: string, version?: string) => ({ type: 'custom', skill_id, version })
const builtin = (skill_id: string) => ({ type: 'anthropic', skill_id })
const resultsOf = (seen: readonly SeenEvent[]) => all(seen, 'agent.tool_result').map(textOf)

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`skills of a session on ${database}`, () => {
    let service: TestService
    let stub: StubModel
    let made = 0
    before(async () => {
      service = await boot(database)
      stub = await startStub(anthropicDialect)
    })
    after(async () => {
      await service.close()
      await stub[Symbol.asyncDispose]()
    })

    /** Creates a skill, or a new version of the skill with this id. */
    async function upload(name: string, body: string, id?: string): Promise<Skill> {
      const files = [
        { path: 'SKILL.md', content: skillText(name, body) },
        { path: 'deep/data.txt', content: `data of ${name}\n` },
      ]
      const form = skillForm(files, id === undefined ? {} : { id })
      const answer = await sendBody<Skill>(service, '/v1/skills', form)
      assert.equal(answer.status, 200, answer.text)
      return answer.body
    }
    const named = () => `skill-${++made}`

    async function stubModel(): Promise<string> {
      stub.replies(ok)
      const model_id = fresh('handle').replace(' ', '-')
      const card = { model: 'stub-1', base_url: stub.url, api_key: 'none-needed' }
      const native_config = { contextWindow: 100_000, maxTokens: 1000, input: ['text'] }
      const provider = 'ant-compatible'
      await service.ask('POST', '/v1/ext/model_cards', {
        ...{ model_id, ...card, provider, native_config },
      })
      return model_id
    }

    /** The system prompt of the next turn. */
    async function promptOf(session: string): Promise<string> {
      stub.requests.length = 0
      stub.replies(ok)
      await turn(service, session, 'hello')
      const { system } = stub.requests.at(-1)?.body ?? {}
      if (typeof system === 'string') return system
      return (system as { text: string }[]).map(({ text }) => text).join('')
    }

    async function refused(skills: object[], words: RegExp, status = 400): Promise<void> {
      const made = { name: fresh('agent'), model: 'offline', tools }
      const { id } = (await service.ask('POST', '/v1/agents', made)).body
      const environment = await service.client.beta.environments.create({
        name: fresh('environment'),
      })
      const agent = { type: 'agent_with_overrides', id, skills }
      const body = { agent, environment_id: environment.id }
      const answer = await service.ask('POST', '/v1/sessions', body)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      assert.match(String((answer.body['error'] as LooseBody)['message']), words)
    }

    verifies(
      ['skills/mounted', 'sandbox/path/skills', 'skills/read-only'],
      'its files lie in its sandbox by the name of the skill, and cannot be changed',
      async () => {
        const name = named()
        const { id } = await upload(name, '# It\n')
        const session = await newSession(service, {
          tools,
          skills: [custom(id), builtin('xlsx')],
        })
        const at = `/home/user/.skills/${name}`
        const seen = await turn(
          service,
          session,
          [
            `run: cd ${at}; cat deep/data.txt; ls ~/.skills; ls -l deep/data.txt | cut -c1-10`,
            `run: echo x > ${at}/new; echo x >> ${at}/SKILL.md; rm -r ${at}/deep; mv ${at} /tmp/x`,
            `read ${at}/deep/data.txt`,
            `call write {"file_path": "${at}/SKILL.md", "content": "x"}`,
          ].join('\n'),
        )
        const [listed, changed, read, written] = resultsOf(seen)
        assert.match(String(listed), new RegExp(`^data of ${name}\n${name}\nxlsx\n-rw-r--r--`))
        for (const path of ['new:', 'SKILL.md:', "deep/data.txt'", "SKILL.md'"])
          assert.ok(String(changed).includes(`${at}/${path}`), changed)
        assert.match(String(read), new RegExp(`data of ${name}`))
        assert.match(String(written), /Permission denied|read-only/)
      },
    )

    verifies(
      ['skills/inlined', 'skills/inlined/as-it-is', 'skills/not-lazy'],
      'the words of its SKILL.md are in the prompt as they are, the same ones each time',
      async () => {
        const name = named()
        const body =
          '\n# Do this\n\n"quotes" & <tags> </skill></source> \\n $& ${x}\n\n---\n\nend  \n'
        const { id } = await upload(name, body)
        const model = await stubModel()
        const session = await newSession(service, {
          ...{ model, tools, system: 'Be kind.', skills: [custom(id), builtin('pdf')] },
        })
        const prompt = await promptOf(session)
        const part = `<source name="skill:${id}"><skill name="${name}">${body}</skill></source>`
        assert.ok(prompt.includes(part), prompt)
        assert.match(prompt, /^Be kind\./)
        assert.match(prompt, /<source name="skill:pdf"><skill name="pdf"># PDF files\n/)
        assert.match(prompt, /\/home\/user\/\.skills\/<name>\//)
        assert.ok(!prompt.includes('what it is for'), 'the head is no part of the body')
        assert.equal(await promptOf(session), prompt)
        const bare = await newSession(service, { model, tools: [], skills: [custom(id)] })
        assert.equal(await promptOf(bare), part)
      },
    )

    verifies(
      ['skills/pinned', 'agents/skills/resolved', 'skills/gone'],
      'it keeps the version that it began with until that is deleted, and reports the deletion',
      async () => {
        const name = named()
        const first = await upload(name, 'the first body')
        const skills = [custom(first.id)]
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: await stubModel() },
          ...({ tools, skills } as object),
        })
        assert.deepEqual(agent.skills, [custom(first.id, 'latest')])
        const environment = await service.client.beta.environments.create({
          name: fresh('environment'),
        })
        const begin = () =>
          service.client.beta.sessions.create({ agent: agent.id, environment_id: environment.id })
        const old = await begin()
        assert.deepEqual(old.agent.skills, [custom(first.id, String(first.latest_version))])
        const second = await upload(name, 'the second body', first.id)
        const young = await begin()
        assert.deepEqual(young.agent.skills, [custom(first.id, String(second.latest_version))])
        assert.match(await promptOf(old.id), /the first body/)
        assert.match(await promptOf(young.id), /the second body/)
        const exact = { id: agent.id, type: 'agent_with_overrides' } as const
        const named_ = await service.client.beta.sessions.create({
          agent: { ...exact, skills: [custom(first.id, `skver_${first.latest_version}`)] as never },
          environment_id: environment.id,
        })
        assert.deepEqual(named_.agent.skills, [custom(first.id, `skver_${first.latest_version}`)])

        const which = { skill_id: first.id }
        await service.client.skills.versions.delete(String(first.latest_version), which)
        const prompt = await promptOf(old.id)
        assert.doesNotMatch(prompt, /the first body/)
        assert.match(prompt, new RegExp(`skill ${first.id}/${first.latest_version} was deleted`))
        const call: StubAnswer = {
          blocks: [
            { type: 'tool_call', id: 'toolu_1', name: 'bash', pieces: ['{"command":"ls"}'] },
          ],
          stop: 'tool_use',
          usage: { input: 10, output: 1 },
        }
        stub.replies(call, ok)
        await turn(service, old.id, 'look')
        const [warning] = all(await logOf(service, old.id), 'session.warning')
        assert.equal(warning?.['reason'], 'skill_gone')
        assert.match(await promptOf(young.id), /the second body/)
        await service.client.skills.delete(first.id)
        await assert.rejects(begin(), { status: 404 })
      },
    )

    verifies(
      'skills/session/refused',
      'skills that it cannot have are refused at its creation',
      async () => {
        const name = named()
        const [one, other] = [await upload(name, 'x'), await upload(name, 'y')]
        await refused([custom('skill_none')], /skill skill_none does not exist/, 404)
        await refused([custom(one.id, '123')], /does not exist/, 404)
        await refused([custom(one.id, 'newest')], /does not exist/, 404)
        await refused([builtin(one.id)], /skills\.0\.type: skill .* is of type custom/)
        await refused([{ type: 'custom', skill_id: 'pdf' }], /skills\.0\.type: .* anthropic/)
        await refused([{ ...builtin('pdf'), version: '1' }], /does not exist/, 404)
        await refused([custom(one.id), custom(other.id)], new RegExp(`both named ${name}`))
        await refused([custom(one.id), custom(one.id)], /both named/)
        const many = (count: number) =>
          Array.from({ length: count }, (_, i) => custom(`skill_${i}`))
        await refused(many(500), /skill_0 does not exist/, 404)
        await refused(many(501), /at most 500/)
        const { key } = await service.otherWorkspace('without skills')
        const foreign = { 'x-api-key': key }
        const agent = { name: 'theirs', model: 'offline', tools: [] }
        const skills = [custom(one.id)]
        const withSkill = await service.ask('POST', '/v1/agents', { ...agent, skills }, foreign)
        assert.equal(withSkill.status, 400)
        const theirs = (await service.ask('POST', '/v1/agents', agent, foreign)).body.id
        const environment = (await service.ask('POST', '/v1/environments', { name: 'e' }, foreign))
          .body.id
        const overridden = { type: 'agent_with_overrides', id: theirs, skills }
        const body = { agent: overridden, environment_id: environment }
        assert.equal((await service.ask('POST', '/v1/sessions', body, foreign)).status, 404)
      },
    )

    verifies(
      'skills/builtin/work',
      'the built-in ones make and read their files in a sandbox without a network',
      async () => {
        const session = await newSession(
          service,
          { tools, skills: ['docx', 'pdf', 'pptx', 'xlsx'].map(builtin) },
          {},
        )
        const seen = await turn(
          service,
          session,
          [
            'write a.md: <<END',
            '# Title',
            '',
            'A **bold** word.',
            '',
            '| A | B |',
            '|---|---|',
            '| 1 | 2 |',
            'END',
            'write a.csv:',
            'A,B',
            '1,2',
            '',
            ...['docx', 'pdf', 'pptx'].map(
              (name) =>
                `run: S=~/.skills/${name}/scripts/${name}.mjs; node $S create a.${name} --from a.md && node $S text a.${name}`,
            ),
            'run: S=~/.skills/xlsx/scripts/xlsx.mjs; node $S create a.xlsx --from a.csv && node $S read a.xlsx',
          ].join('\n'),
        )
        const said = resultsOf(seen).slice(2)
        assert.equal(said.length, 4)
        for (const each of said.slice(0, 3)) {
          assert.match(each, /Title/)
          assert.match(each, /1.+2/)
        }
        assert.match(String(said[3]), /A,B\n1,2\n/)
      },
    )
  })
}

describe('skills on the machine itself', () => {
  let service: TestService
  before(async () => {
    const env = { SANDBOX_PROVIDER: 'local', EGRESS_PROFILE: 'best_effort' }
    service = await boot('sqlite', { env })
  })
  after(() => service.close())

  verifies('skills/local', 'are found by file tools and by commands', async () => {
    const form = skillForm([{ path: 'SKILL.md', content: skillText('here') }])
    const { body } = await sendBody<Skill>(service, '/v1/skills', form)
    const skills = [custom(body.id), builtin('xlsx')]
    const session = await newSession(service, { tools, skills })
    const seen = await turn(
      service,
      session,
      [
        'run: cat ~/.skills/here/SKILL.md; node ~/.skills/xlsx/scripts/xlsx.mjs --help',
        'read /home/user/.skills/here/SKILL.md',
        'call write {"file_path": "/home/user/.skills/here/x", "content": "x"}',
      ].join('\n'),
    )
    const [ran, read, written] = resultsOf(seen)
    assert.match(String(ran), /name: here[^]*xlsx\.mjs create/)
    assert.match(String(read), /name: here/)
    assert.match(String(written), /read-only/)
    const folder = join(service.dataDir, 'skills')
    assert.equal((await readdir(folder)).length, 2)
  })
})
