/** The agents of threads: what is shown of them, and what a child may not do because its starter may not. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { scenarioDatabases } from '../service.ts'
import type { TestTeam } from '../team.ts'
import { newTeam, says, starts, startTeam, teamOf, uses } from '../team.ts'
import type { SeenEvent } from '../turns.ts'
import { all, only, textOf, turn } from '../turns.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`agents of threads on ${database}`, () => {
    let team: TestTeam
    before(async () => void (team = await startTeam(database)))
    after(() => team.close())
    const threads = () => team.service.client.beta.sessions.threads

    async function childOf(session: string, name: string) {
      for await (const thread of threads().list(session))
        if ('name' in thread.agent && thread.agent.name === name) return thread
      return assert.fail(`there is no thread of ${name}`)
    }

    verifies(
      ['threads/get', 'threads/archive'],
      'the primary thread is shown as a child is, and the times of a child end when it is archived',
      async () => {
        const { service, stub, model } = team
        const session = await newTeam(service, model, [{ name: 'reader' }])
        teamOf(stub, {
          boss: [starts(['reader', 'read it']), says('it reads'), says('done')],
          reader: [says('it is read')],
        })
        const seen = await turn(service, session, 'go')
        const [primary, child] = [await childOf(session, 'boss'), await childOf(session, 'reader')]
        assert.deepEqual(Object.keys(primary.agent).toSorted(), Object.keys(child.agent).toSorted())
        const began = Date.parse(String(only(seen, 'session.status_running')['created_at']))
        assert.deepEqual(
          [primary.stats?.startup_seconds, child.stats?.startup_seconds],
          [(began - Date.parse(primary.created_at)) / 1000, 0],
        )
        const { archived_at } = await threads().archive(child.id, { session_id: session })
        assert.ok(archived_at)
        const { stats } = await threads().retrieve(child.id, { session_id: session })
        const lasted = (Date.parse(archived_at) - Date.parse(child.created_at)) / 1000
        assert.equal(stats?.duration_seconds, lasted)
      },
    )

    verifies(
      'threads/web-lists',
      'a child reaches no web page that the agent that has started it may not reach',
      async () => {
        const web = (...configs: object[]) => [{ type: 'agent_toolset_20260401', configs }]
        const fetching = (lists: object) => ({ name: 'web_fetch', ...lists })
        const searching = (lists: object) => ({ name: 'web_search', ...lists })
        const boss = {
          tools: web(
            fetching({ allowed_domains: ['docs.a.example', 'b.example'] }),
            searching({ allowed_domains: ['a.example'] }),
          ),
        }
        const { service, stub, model } = team
        const session = await newTeam(
          service,
          model,
          [
            { name: 'free', tools: web() },
            {
              name: 'bound',
              tools: web(
                fetching({ blocked_domains: ['docs.a.example'] }),
                searching({ allowed_domains: ['b.example'] }),
              ),
            },
          ],
          { boss },
        )
        const fetches = ['https://a.example', 'https://docs.a.example', 'https://b.example']
        const calls = fetches.map((url): [string, object] => ['web_fetch', { url }])
        const tries = [uses(...calls, ['web_search', { query: 'x' }]), says('tried')]
        teamOf(stub, {
          boss: [starts(['free', 'try'], ['bound', 'try']), says('they try'), says('done')],
          free: [...tries],
          bound: [...tries],
        })
        await turn(service, session, 'go')
        const isOut = async (name: string) => {
          const { id } = await childOf(session, name)
          const seen: SeenEvent[] = []
          for await (const each of threads().events.list(id, { session_id: session }))
            seen.push({ ...each } as SeenEvent)
          const resultOf = ({ id }: SeenEvent) =>
            all(seen, 'agent.tool_result').find((each) => each['tool_use_id'] === id)
          return all(seen, 'agent.tool_use').map((call) => {
            const result = resultOf(call)
            return result && textOf(result).startsWith('url_not_allowed')
          })
        }
        assert.deepEqual(await isOut('free'), [true, false, false, false])
        assert.deepEqual(await isOut('bound'), [true, true, false, true])
      },
    )
  })
}
