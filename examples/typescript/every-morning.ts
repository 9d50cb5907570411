/** A deployment starts a session on a schedule. This program also starts one now, and waits for its answer. */
import Anthropic from '@anthropic-ai/sdk'

const {
  STEWARD_URL = 'http://127.0.0.1:8787',
  STEWARD_API_KEY = '',
  MODEL = 'offline',
} = process.env
const client = new Anthropic({ baseURL: STEWARD_URL, apiKey: STEWARD_API_KEY })

const agent = await client.beta.agents.create({
  name: 'Morning report',
  model: MODEL,
  tools: [{ type: 'agent_toolset_20260401' }],
})
const environment = await client.beta.environments.create({ name: `mornings ${Date.now()}` })
const deployment = await client.beta.deployments.create({
  name: `Every morning ${Date.now()}`,
  agent: agent.id,
  environment_id: environment.id,
  schedule: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
  initial_events: [
    { type: 'user.message', content: [{ type: 'text', text: 'run: echo "it is $(date +%A)"' }] },
  ],
})
console.log('Runs next at', deployment.schedule?.upcoming_runs_at?.[0])

let run = await client.beta.deployments.run(deployment.id)
while (run.session_id === null) {
  await new Promise((resolve) => setTimeout(resolve, 200))
  run = await client.beta.deploymentRuns.retrieve(run.id)
}
for (;;) {
  const { status } = await client.beta.sessions.retrieve(run.session_id)
  if (status === 'idle') break
  await new Promise((resolve) => setTimeout(resolve, 200))
}
for await (const event of client.beta.sessions.events.list(run.session_id))
  if (event.type === 'agent.message')
    for (const block of event.content) if (block.type === 'text') console.log(block.text)
await client.beta.deployments.archive(deployment.id)
