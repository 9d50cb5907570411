/**
 * The time from the creation of a session until its first tool call has run, with and without many skills, memory
 * stores and files.
 */
import { uploadFile } from '../../conformance/files.ts'
import type { TestService } from '../../conformance/service.ts'
import { boot } from '../../conformance/service.ts'
import { sendBody, skillForm, skillText } from '../../conformance/skills.ts'
import { fresh, post } from '../../conformance/turns.ts'
import type { Figure } from '../figures.ts'
import { median } from '../figures.ts'

const runs = 15
const skillCount = 10
const storeCount = 2
const memoryCount = 500
const fileCount = 20
const atOnce = 50
const tools = [{ type: 'agent_toolset_20260401' }]

async function skillsOf(service: TestService): Promise<object[]> {
  const builtin = ['docx', 'pdf', 'pptx', 'xlsx'].map((id) => ({ type: 'anthropic', skill_id: id }))
  const own = Array.from({ length: skillCount - builtin.length }, async (_, n) => {
    const script = { path: 'scripts/run.mjs', content: `// ${'x'.repeat(20_000)}\n` }
    const text = skillText(`skill-${n}`, '# A step\n\nDo it.\n'.repeat(100))
    const form = skillForm([{ path: 'SKILL.md', content: text }, script])
    const { body } = await sendBody<{ id: string }>(service, '/v1/skills', form)
    return { type: 'custom', skill_id: body.id }
  })
  return [...builtin, ...(await Promise.all(own))]
}

async function storeOf(service: TestService, number: number): Promise<object> {
  const beta = { 'vendor-beta': 'agent-memory-2026-07-22' }
  const ask = async (path: string, body: object) =>
    (await service.ask('POST', `/v1/memory_stores${path}`, body, beta)).body.id
  const id = await ask('', { name: `store-${number}` })
  const paths = Array.from({ length: memoryCount }, (_, n) => `/topic-${n % 20}/memory-${n}.md`)
  for (let from = 0; from < paths.length; from += atOnce) {
    const some = paths.slice(from, from + atOnce)
    const make = (path: string) => ask(`/${id}/memories`, { path, content: 'a line\n'.repeat(50) })
    await Promise.all(some.map(make))
  }
  return { type: 'memory_store', memory_store_id: id, access: 'read_write' }
}

async function filesOf(service: TestService): Promise<object[]> {
  const made = Array.from({ length: fileCount }, async (_, n) => {
    const { id } = await uploadFile(service, { name: `${n}.txt`, content: 'x'.repeat(50_000) })
    return { type: 'file', file_id: id }
  })
  return Promise.all(made)
}

export async function* sessionInputs(): AsyncGenerator<Figure> {
  const service = await boot('sqlite', { env: { CHECKPOINTS: 'off' } })
  const { beta } = service.client
  const environment = await beta.environments.create({ name: fresh('environment') })
  const agentOf = async (skills: object[]) =>
    (
      await service.ask('POST', '/v1/agents', {
        ...{ name: fresh('agent'), model: 'offline', tools, skills },
      })
    ).body.id
  const first = async (agent: string, resources: object[]): Promise<number> => {
    const began = performance.now()
    const body = { agent, environment_id: environment.id, resources }
    const { id } = (await service.ask('POST', '/v1/sessions', body)).body
    const stream = await beta.sessions.events.stream(id)
    await post(service, id, 'call bash {"command":"true"}')
    let spent = Number.NaN
    for await (const event of stream) {
      if (event.type === 'agent.tool_result') spent = performance.now() - began
      if (event.type === 'session.status_idle') break
    }
    return spent
  }
  const stores = Array.from({ length: storeCount }, (_, n) => storeOf(service, n))
  const resources = [...(await Promise.all(stores)), ...(await filesOf(service))]
  const [bare, full] = [await agentOf([]), await agentOf(await skillsOf(service))]
  await first(bare, [])
  const cold = await first(full, resources)
  const spent = { bare: [] as number[], skilled: [] as number[], full: [] as number[] }
  for (let run = 0; run < runs; run++) {
    spent.bare.push(await first(bare, []))
    spent.skilled.push(await first(full, []))
    spent.full.push(await first(full, resources))
  }
  await service.close()
  const unit = 'ms'
  const what = `10 skills, 2 stores of ${memoryCount} memories, ${fileCount} files: until the first tool call has run`
  yield { what, value: median(spent.full), unit, goal: 150 }
  yield { what: 'the same, where none of it was there before', value: cold, unit }
  yield { what: 'the same, with the skills alone', value: median(spent.skilled), unit }
  yield { what: 'the same, without any of it', value: median(spent.bare), unit }
}
