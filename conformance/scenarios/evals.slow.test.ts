import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Eval, EvalComparison, EvalResult } from '@steward/protocol/evals.ts'
import { uploadFile } from '../files.ts'
import type { LooseBody, TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import { custom, fresh, only, result, turn } from '../turns.ts'
import { until } from '../until.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`evals on ${database}`, () => {
    let service: TestService
    before(async () => void (service = await boot(database)))
    after(() => service.close())

    /** Creates an agent on the offline model and an environment. Every run names both. */
    async function subject(agent: object = {}) {
      const { beta } = service.client
      const made = await beta.agents.create({ name: fresh('agent'), model: 'offline', ...agent })
      const environment = await beta.environments.create({ name: fresh('environment') })
      return { agent: made.id, environment_id: environment.id }
    }

    async function ended(id: string): Promise<Eval> {
      let run: Eval | undefined
      await until(async () => {
        run = (await service.ask<Eval>('GET', `/v1/ext/evals/${id}`)).body
        return run.ended_at !== null
      })
      assert.ok(run)
      return run
    }

    /** Starts a run and follows it to its end. */
    async function runOf(body: object): Promise<{ run: Eval; results: EvalResult[] }> {
      const made = await service.ask<Eval>('POST', '/v1/ext/evals', body)
      assert.equal(made.status, 200, JSON.stringify(made.body))
      const run = await ended(made.body.id)
      return { run, results: (await resultsOf(run.id)).toReversed() }
    }
    const resultsOf = async (run: string, query = '') =>
      (await service.ask<{ data: EvalResult[] }>('GET', `/v1/ext/evals/${run}/results${query}`))
        .body.data
    const says = (name: string, value?: string) => ({ name, type: 'text', op: 'includes', value })

    verifies(
      ['evals/create', 'evals/get', 'evals/list', 'evals/results', 'evals/trials', 'evals/scores'],
      'a run scores two samples, each in a session of its own',
      async () => {
        const { run, results } = await runOf({
          ...(await subject()),
          name: 'first',
          samples: [
            { id: 'greets', input: 'say: hello there', expected: 'hello' },
            { id: 'counts', input: 'say: one two', expected: 'three' },
          ],
          graders: [says('word')],
          trials: 2,
        })
        const { counts } = run
        assert.deepEqual(
          [run.status, counts.total, counts.passed, counts.failed],
          ['completed', 4, 2, 2],
        )
        const half = { mean: 0.5, stddev: 0.5, pass_at_1: 0.5, pass_all: 0.5, pass_any: 0.5 }
        assert.deepEqual(run.scores, [
          { grader: 'word', trials: 4, ...half },
          { grader: 'all', trials: 4, ...half },
        ])
        assert.deepEqual(
          results.map(({ sample_id, trial, status }) => [sample_id, trial, status]),
          [
            ['greets', 0, 'passed'],
            ['greets', 1, 'passed'],
            ['counts', 0, 'failed'],
            ['counts', 1, 'failed'],
          ],
        )
        const [failed] = await resultsOf(run.id, '?status=failed&sample_id=counts&limit=1')
        const explanation = '"one two" does not include "three"'
        const score = { grader: 'word', score: 0, passed: false, explanation }
        assert.deepEqual([failed?.scores, failed?.answer], [[score], 'one two'])
        const session = await service.client.beta.sessions.retrieve(failed?.session_id ?? '')
        assert.deepEqual([session.metadata['eval_run_id'], session.status], [run.id, 'terminated'])
        const list = await service.ask<{ data: Eval[] }>('GET', '/v1/ext/evals?status=completed')
        assert.deepEqual(
          list.body.data.map(({ id, counts: { total } }) => [id, total]),
          [[run.id, 4]],
        )
      },
    )

    verifies(
      'evals/agent-version',
      'a run measures the version that the agent had when it was created',
      async () => {
        const of = await subject()
        const samples = Array.from({ length: 3 }, () => ({ input: 'say: a' }))
        const body = { ...of, samples, graders: [says('a', 'a')], max_concurrency: 1 }
        const made = await service.ask<Eval>('POST', '/v1/ext/evals', body)
        await service.ask('POST', `/v1/agents/${of.agent}`, { version: 1, description: 'new' })
        const run = await ended(made.body.id)
        assert.deepEqual([run.agent.version, run.counts.passed], [1, 3])
        for (const { session_id } of await resultsOf(run.id)) {
          const session = await service.ask('GET', `/v1/sessions/${session_id}`)
          assert.equal(session.body['agent_version'], 1)
        }
      },
    )

    verifies(
      ['evals/errored', 'evals/answers', 'evals/messages'],
      'a trial that fails is no score, and a trial that waits gets its scripted answer',
      async () => {
        const tools = [custom, { type: 'agent_toolset_20260401' }]
        const { run, results } = await runOf({
          ...(await subject({ tools })),
          samples: [
            { id: 'fails', input: 'fail: billing' },
            { id: 'asks', input: 'call look_up {"what": "x"}' },
            {
              id: 'answered',
              input: ['call look_up {"what": "x"}', 'say: and the last'],
              answers: [{ tool: 'look_up', content: 'found it' }],
            },
          ],
          graders: [
            says('last', 'the last'),
            {
              name: 'calls',
              type: 'events',
              expect: [
                { type: 'agent.custom_tool_use', name: 'look_up', min: 1, max: 1 },
                { type: 'user.message', min: 2, max: 2 },
              ],
            },
          ],
        })
        assert.deepEqual(
          results.map(({ sample_id, status, error }) => [sample_id, status, error?.type]),
          [
            ['fails', 'errored', 'turn_failed'],
            ['asks', 'errored', 'needs_input'],
            ['answered', 'passed', undefined],
          ],
        )
        assert.deepEqual([run.counts.errored, run.scores[0]?.trials], [2, 1])
      },
    )

    verifies(
      ['evals/graders', 'evals/outlives'],
      'graders are joined, and a result outlives its session',
      async () => {
        const [yes, no] = [says('yes', 'total'), says('no', 'nothing')]
        const total = { name: 'sum', type: 'text', op: 'json_path', path: '/total', value: '3' }
        const of = { ...(await subject()), samples: [{ input: 'say: {"total": 3}' }] }
        const { results } = await runOf({
          ...of,
          graders: [
            total,
            { name: 'all', type: 'all', of: [yes, no] },
            { name: 'any', type: 'any', of: [yes, no] },
            { name: 'most', type: 'weighted', of: [yes, no], weights: [3, 1], threshold: 0.7 },
            { name: 'expression', type: 'text', op: 'regex', value: '^.{2}t\\w+' },
          ],
        })
        const result = results[0]
        assert.deepEqual(
          result?.scores.map(({ grader, score, passed }) => [grader, score, passed]),
          [
            ['sum', 1, true],
            ['all', 0, false],
            ['any', 1, true],
            ['most', 0.75, true],
            ['expression', 1, true],
          ],
        )
        await service.client.beta.sessions.delete(result?.session_id ?? '')
        assert.deepEqual(await resultsOf(result?.run_id ?? ''), results)
        const graders = [{ name: 'any', type: 'any', of: [{ ...total, op: 'regex', value: '(' }] }]
        const refused = await service.ask('POST', '/v1/ext/evals', { ...of, graders })
        assert.match(JSON.stringify(refused.body), /graders\.0\.of\.0\.value: .*Unterminated group/)
      },
    )

    verifies(
      [
        'evals/compare',
        'evals/compare/chance',
        'evals/export',
        'eval-datasets/create',
        'eval-datasets/versions',
      ],
      'a comparison names the regression, and a changed sample is marked',
      async () => {
        const of = await subject({ tools: [custom] })
        const answers = [{ tool: 'look_up', content: 'found it' }]
        const samples = [
          { id: 'looks', input: 'call look_up {"what": "x"}', answers, expected: 'found it' },
          { id: 'greets', input: 'say: hello', expected: 'hello' },
        ]
        const { body: dataset } = await service.ask('POST', '/v1/ext/eval_datasets', {
          name: 'first',
          samples,
        })
        const body = { ...of, graders: [says('answer')], trials: 8, max_concurrency: 16 }
        const at = { dataset: { id: dataset.id } }
        const { run: baseline } = await runOf({ ...body, ...at })
        await service.ask('POST', `/v1/agents/${of.agent}`, { version: 1, tools: [] })
        const { run } = await runOf({ ...body, ...at, baseline_run_id: baseline.id })
        const compared = await service.ask<EvalComparison>('GET', `/v1/ext/evals/${run.id}/compare`)
        const { verdict, summary, samples: found } = compared.body
        assert.deepEqual(
          [verdict, found.map(({ sample_id, change }) => [sample_id, change])],
          [
            'worse',
            [
              ['looks', 'worse'],
              ['greets', 'same'],
            ],
          ],
        )
        assert.match(summary, /looks: 8 of 8 trials passed before and 0 of 8 now, which is worse/)

        const changed = [{ ...samples[1], expected: 'hel' }]
        const { body: second } = await service.ask('POST', `/v1/ext/eval_datasets/${dataset.id}`, {
          samples: changed,
          remove: ['looks'],
        })
        assert.equal(second['version'], 2)
        const { run: third } = await runOf({ ...body, ...at, trials: 1 })
        assert.equal(third.dataset?.version, 2)
        const path = `/v1/ext/evals/${third.id}/compare?baseline=${run.id}`
        const again = await service.ask<EvalComparison>('GET', path)
        assert.deepEqual(
          again.body.samples.map(({ change }) => change),
          ['changed', 'removed'],
        )
        const older = await service.ask(
          'GET',
          `/v1/ext/eval_datasets/${dataset.id}/samples?version=1`,
        )
        assert.deepEqual(
          older.body.data.map(({ id, expected }) => [id, expected]),
          [
            ['looks', 'found it'],
            ['greets', 'hello'],
          ],
        )

        const exported = async (format: string) =>
          (await service.raw('GET', `/v1/ext/evals/${run.id}/export?format=${format}`)).text()
        const lines = (await exported('jsonl')).trimEnd().split('\n')
        const [line] = lines.map((each): LooseBody => JSON.parse(each))
        assert.deepEqual(
          [lines.length, line?.['sample_id'], line?.['expected']],
          [16, 'looks', 'found it'],
        )
        const junit = await exported('junit')
        assert.match(junit, /<testsuite name="evrun_\w+" tests="16" failures="8" errors="0">/)
        assert.match(junit, /<failure type="answer" message="answer: &quot;/)
      },
    )

    verifies(
      ['evals/cancel', 'evals/dry-run'],
      'a dry run starts nothing, and a canceled run stops',
      async () => {
        const of = await subject()
        const samples = Array.from({ length: 3 }, () => ({ input: 'wait: 600000' }))
        const body = { ...of, samples, graders: [says('a', 'a')], trials: 2, max_concurrency: 2 }
        const { body: plan } = await service.ask('POST', '/v1/ext/evals', {
          ...body,
          dry_run: true,
        })
        const { type, total, expected_cost } = plan
        assert.deepEqual([type, total, expected_cost], ['eval_dry_run', 6, null])
        const wrong = { ...body, dry_run: true, vault_ids: ['vlt_none'] }
        assert.equal((await service.ask('POST', '/v1/ext/evals', wrong)).status, 404)
        const sessions = await service.ask('GET', `/v1/sessions?agent_id=${of.agent}`)
        assert.deepEqual(sessions.body.data, [])

        const { body: made } = await service.ask<Eval>('POST', '/v1/ext/evals', body)
        await until(async () => (await resultsOf(made.id, '?status=running')).length === 2)
        const cancel = await service.ask<Eval>('POST', `/v1/ext/evals/${made.id}/cancel`)
        assert.deepEqual([cancel.body.status, cancel.body.counts.canceled], ['canceling', 4])
        const run = await ended(made.id)
        assert.deepEqual([run.status, run.counts.canceled], ['canceled', 6])
        const again = await service.ask<Eval>('POST', `/v1/ext/evals/${made.id}/cancel`)
        assert.equal(again.body.status, 'canceled')
      },
    )

    verifies(
      ['eval-datasets/sessions', 'eval-datasets/delete'],
      'a session becomes a sample, which asks the same and expects the same',
      async () => {
        const of = await subject({ tools: [custom] })
        const { agent, environment_id } = of
        const session = await service.client.beta.sessions.create({ agent, environment_id })
        const first = await turn(service, session.id, 'call look_up {"what": "x"}')
        await turn(service, session.id, result(only(first, 'agent.custom_tool_use').id, 'a wren'))
        const { body: dataset } = await service.ask('POST', '/v1/ext/eval_datasets', {
          name: 'real',
          source: { type: 'sessions', session_ids: [session.id] },
        })
        const { run, results } = await runOf({
          ...of,
          dataset: { id: dataset.id },
          graders: [{ name: 'same', type: 'text', op: 'equals' }],
        })
        assert.deepEqual(
          [run.counts.passed, results[0]?.sample_id, results[0]?.answer?.includes('a wren')],
          [1, session.id, true],
        )
        await service.ask('DELETE', `/v1/ext/eval_datasets/${dataset.id}`)
        const gone = await service.ask('GET', `/v1/ext/eval_datasets/${dataset.id}`)
        assert.deepEqual([gone.status, (await resultsOf(run.id)).length], [404, 1])
      },
    )

    verifies(
      ['evals/graders/sandbox', 'evals/setup', 'evals/graders/rubric', 'evals/files'],
      'graders look into the sandbox of a trial, which has its files before the first message',
      async () => {
        const of = await subject({ tools: [{ type: 'agent_toolset_20260401' }] })
        const fileOf = async (content: string) => (await uploadFile(service, { content })).id
        const verdict = (result: string, met: boolean) =>
          `call submit_verdict ${JSON.stringify({
            result,
            explanation: 'looked',
            criteria: [{ criterion: 'sorted', met }],
          })}`
        const { run, results } = await runOf({
          ...of,
          samples: [
            {
              id: 'sorts',
              input: 'run: sort words > sorted',
              files: [{ path: 'words', file_id: await fileOf('b\na\n') }],
              setup_script: 'echo c >> words; alias sort=false',
            },
            { id: 'lazy', input: 'say: sorted', files: [{ path: 'words', content: 'a' }] },
            { id: 'broken', input: 'say: never', setup_script: 'echo no disk; exit 3' },
          ],
          graders: [
            { name: 'there', type: 'file', path: 'sorted', includes: 'a\nb\nc' },
            {
              name: 'order',
              type: 'script',
              command: 'sort -c sorted && echo \'{"score": 0.75, "explanation": "in order"}\'',
            },
            { name: 'good', type: 'rubric', file_id: await fileOf(verdict('satisfied', true)) },
            { name: 'bad', type: 'rubric', content: verdict('needs_revision', false) },
          ],
        })
        const { counts } = run
        assert.deepEqual([counts.failed, counts.errored], [2, 1], JSON.stringify(results))
        const told = results[0]?.scores.map((each) => `${each.grader} ${each.score} ${each.passed}`)
        assert.deepEqual(told, ['there 1 true', 'order 0.75 true', 'good 1 true', 'bad 0 false'])
        assert.equal(results[0]?.scores[1]?.explanation, 'in order')
        assert.equal(results[1]?.scores[0]?.explanation, 'there is no such file')
        assert.deepEqual(results[2]?.error, { type: 'setup_failed', message: 'no disk\n' })
        const session = await service.ask('GET', `/v1/sessions/${results[0]?.session_id}`)
        assert.deepEqual(session.body['outcome_evaluations'], [], 'the agent had no outcome')
        const file = await uploadFile(service, { content: new Uint8Array([0xff, 0, 0xfe]) })
        const samples = [{ input: 'a', files: [{ path: 'a', file_id: file.id }] }]
        const refused = await service.ask('POST', '/v1/ext/eval_datasets', { name: 'd', samples })
        assert.match(JSON.stringify(refused.body), /samples\.0\.files\.0\.file_id: .* is no text/)
      },
    )

    verifies('evals/tasks', 'the body of an earlier interface is taken', async () => {
      const { agent, environment_id } = await subject({ tools: [custom] })
      const scorers = [
        { type: 'includes', value: 'done' },
        { type: 'tool_not_used', tool: 'look_up' },
        { type: 'tool_used', tool: 'look_up' },
      ]
      const { run, results } = await runOf({
        agent_id: agent,
        environment_id,
        tasks: [
          { id: 'plain', messages: ['say: hello', 'say: done'] },
          { id: 'scored', messages: ['say: done'], reward: { type: 'verifiable', scorers } },
        ],
      })
      assert.deepEqual([run.counts.passed, run.counts.failed], [1, 1])
      assert.deepEqual(
        results[1]?.scores.map(({ passed }) => passed),
        [true, true, false],
      )
      const wrong = { agent, environment_id, tasks: [{ id: 'a', messages: ['say: a'] }] }
      const refused = await service.ask('POST', '/v1/ext/evals', wrong)
      assert.match(JSON.stringify(refused.body), /agent_id: goes with tasks/)
    })
  })
}
