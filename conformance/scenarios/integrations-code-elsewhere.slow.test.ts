import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { installGithub } from '../github.ts'
import type { CodeHost } from '../github-code-host.ts'
import { codeHost, codeHostUrl, opening, pushing, shopPath } from '../github-code-host.ts'
import { deliverLinear, linearEvent, linearSettings, linearStub } from '../linear.ts'
import { givenTexts, installApp, kinds, publishAgent } from '../publishing.ts'
import { scenarioDatabases } from '../service.ts'
import { deliverSlack, slackMention, slackSettings, slackStub } from '../slack.ts'
import { fresh } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

const allowed = { type: 'always_allow' }

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`work on code for people in a chat and a tracker, on ${database}`, () => {
    let host: CodeHost
    let github: string
    let environment: string
    const installed: Record<string, string> = {}
    const slack = slackStub('')
    const linear = linearStub()
    before(async () => {
      const { INTEGRATIONS_SLACK_APP_TOKEN: _, ...chat } = slackSettings(codeHostUrl)
      const env = { ...chat, ...linearSettings(codeHostUrl) }
      host = await codeHost(database, { env, others: [slack, linear] })
      const { service } = host
      github = await installGithub(service)
      for (const app of ['slack', 'linear']) installed[app] = await installApp(service, app)
      environment = (await service.client.beta.environments.create({ name: fresh('place') })).id
    })
    after(() => host.close())

    const sources = {
      slack: { channels: ['C1'], authors: ['UADA'] },
      linear: { teams: ['ENG'], authors: ['ada@acme.example'] },
    }
    const publish = (app: keyof typeof sources, code: object = {}) =>
      publishAgent(host.service, {
        ...{ app, installation: installed[app] ?? '', environment },
        source: {
          [app]: sources[app],
          code: { installation_id: github, repository: 'acme/shop', ...code },
        },
      })
    const told = (thread: string) =>
      slack.messages
        .filter(({ thread_ts }) => thread_ts === thread)
        .map(({ text, markdown_text }) => markdown_text ?? text ?? '')
    const mention = async (text: string, ts: string, thread?: string) => {
      const asked = slackMention(text, ts, thread === undefined ? {} : { thread })
      assert.equal((await deliverSlack(host.service, asked)).status, 200)
    }
    const opened = (before: ReadonlySet<number>) =>
      [...host.stub.code.pulls].filter(([number]) => !before.has(number))

    verifies(
      ['integrations/code', 'integrations/pull-requests', 'tools/open-pull-request'],
      'an agent in a chat has the repository of its publication, pushes a branch and opens one pull request with the app',
      async () => {
        const { stub, git, service } = host
        await using publication = await publish('slack', { pull_requests: allowed })
        const before = new Set(stub.code.pulls.keys())
        await mention(
          `run: cat /workspace/shop/README.md; ${pushing('mend')}; env\n${opening('mend')}`,
          '300.1',
        )
        await until(
          () => /"number":\d+/.test(told('300.1').at(-1) ?? ''),
          () => [told('300.1'), service.logged],
        )
        const [first, ...more] = opened(before)
        assert.deepEqual(more, [])
        const [, pull] = first ?? assert.fail('none is opened')
        const [delivery] = await publication.deliveries()
        const session = String(delivery?.session_id)
        assert.match(
          pull.body ?? '',
          new RegExp(
            `^For @\u200balice\\.\n\nFor \\[a thread in Slack\\]\\(https://app\\.slack\\.com/client/T1/C1/p3001\\)\n\n<sub>\\[Session\\]\\(https://steward\\.example/console/sessions/${session}\\)</sub>\n\n<!-- steward:${session}:sevt_\\w+ -->$`,
          ),
        )
        assert.equal(await git.git(shopPath, 'show', 'main:README.md'), 'the shop')
        assert.match(await git.git(shopPath, 'show', 'mend:README.md'), /more/)

        // The token of git is renewed in the same session, and a second call opens no second pull request.
        await host.makeTokensDue()
        const given = stub.tokens.length
        await mention(`run: ${pushing('mend')}; echo again\n${opening('mend')}`, '300.2', '300.1')
        await until(() => told('300.1').some((text) => /again/.test(text)))
        await until(async () => (await publication.deliveries())[0]?.answer?.state === 'told')
        const renewed = stub.tokens.slice(given).map((each) => stub.code.permissions.get(each))
        assert.ok(renewed.some((each) => each?.['contents'] === 'write' && !each['checks']))
        assert.equal(opened(before).length, 1)
        const said = JSON.stringify([slack.messages, service.logged])
        for (const token of stub.tokens) assert.ok(!said.includes(token))
      },
    )

    verifies(
      ['integrations/code'],
      'without pull_requests the token of git reads alone, and the agent has no tool for them',
      async () => {
        const { stub } = host
        await using _ = await publish('slack')
        const before = new Set(stub.code.pulls.keys())
        await mention(
          `run: cat /workspace/shop/README.md; ${pushing('taken')}; true\n${opening('taken')}`,
          '301.1',
        )
        await until(() => /open_pull_request/.test(told('301.1').at(-1) ?? ''))
        assert.match(told('301.1').join('\n'), /the shop/)
        assert.doesNotMatch(told('301.1').join('\n'), /^pushed/m)
        assert.deepEqual(opened(before), [])
      },
    )

    verifies(
      ['integrations/code'],
      'a pull request for an issue of a tracker names the issue in its own words',
      async () => {
        const { stub, service } = host
        await using publication = await publish('linear', { pull_requests: allowed })
        const before = new Set(stub.code.pulls.keys())
        const event = linearEvent('agent-session-1')
        const { comment } = event.agentSession
        assert.ok(comment)
        comment.body = `run: ${pushing('of-issue')}\n${opening('of-issue')}`
        assert.equal(await deliverLinear(service, event), 200)
        await until(
          () => opened(before).length === 1,
          () => service.logged,
        )
        assert.match(opened(before)[0]?.[1].body ?? '', /\n\nPart of ENG-7\n\n<sub>/)
        const [delivery] = await publication.deliveries()
        const texts = (await givenTexts(service, delivery?.session_id)).join('\n')
        assert.match(texts, /ENG-7/)
      },
    )

    verifies(
      ['integrations/code'],
      'a repository that no session could have is refused when the publication is made, and by each mention once its app is uninstalled',
      async () => {
        const { service } = host
        const agent = await service.client.beta.agents.create({
          ...{ name: fresh('agent'), model: 'offline' },
          tools: [{ type: 'agent_toolset_20260401' }],
        })
        const ask = (app: string, code: object, source: object) =>
          service.ask('POST', `${kinds}/${app}/publications`, {
            ...{ agent: agent.id, environment_id: environment, ...source },
            code: { installation_id: github, repository: 'acme/shop', ...code },
          })
        const chat = { installation_id: installed['slack'], slack: sources.slack }
        const issues = { installation_id: github, github: { repositories: ['acme/shop'] } }
        for (const [status, words, answer] of [
          [400, /code: .*github\.checkout/, await ask('github', {}, issues)],
          [404, /installation/, await ask('slack', { installation_id: installed['slack'] }, chat)],
          [404, /installation/, await ask('slack', { installation_id: 'inst_none' }, chat)],
          [
            400,
            /code\.repository: .*acme.*globex/,
            await ask('slack', { repository: 'globex/shop' }, chat),
          ],
          [400, /code\.repository/, await ask('slack', { repository: '../shop' }, chat)],
          [400, /code\.repository/, await ask('slack', { repository: 'acme/..' }, chat)],
        ] as const) {
          assert.equal(answer.status, status, JSON.stringify(answer.body))
          assert.match(JSON.stringify(answer.body), words)
        }
        await using _ = await publish('slack')
        await service.ask('POST', `${kinds}/github/uninstall`, { installation_id: github })
        await mention('say: Served.', '302.1')
        await until(() => /install the app again/.test(told('302.1').at(-1) ?? ''))
        const late = await ask('slack', {}, { ...chat, name: 'late' })
        assert.equal(late.status, 400)
        assert.match(JSON.stringify(late.body), /code\.installation_id: .*revoked; install the app/)
        github = await installGithub(service)
      },
    )

    verifies(
      ['integrations/code'],
      'people in a chat stop their agent and answer it while its code host gives no token, and work on once the app is installed again',
      async () => {
        const { service } = host
        await using publication = await publish('slack', { pull_requests: { type: 'always_ask' } })
        await mention('run: sleep 60', '303.1')
        await mention(opening('unpushed'), '304.1')
        await until(() => /wants to call/.test(told('304.1').at(-1) ?? ''))
        await until(async () =>
          (await publication.deliveries()).every(({ state }) => state === 'delivered'),
        )
        await service.ask('POST', `${kinds}/github/uninstall`, { installation_id: github })
        await host.makeTokensDue()
        await mention('stop', '303.2', '303.1')
        await until(
          () => /Stopped/.test(told('303.1').at(-1) ?? ''),
          () => [told('303.1'), service.logged],
        )
        await mention('deny', '304.2', '304.1')
        await until(
          () => /denied/.test(told('304.1').at(-1) ?? ''),
          () => [told('304.1'), service.logged],
        )
        github = await installGithub(service)
        await mention('run: cat /workspace/shop/README.md', '305.1')
        await until(
          () => /the shop/.test(told('305.1').at(-1) ?? ''),
          () => [told('305.1'), service.logged],
        )
        const { body } = await service.ask('GET', `${kinds}/slack/publications/${publication.id}`)
        assert.match(JSON.stringify(body), new RegExp(`"code":{"installation_id":"${github}"`))
      },
    )
  })
}
