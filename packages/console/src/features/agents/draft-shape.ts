/** What the form can show of an agent: the outlines of its fields. Everything finer is the service's to refuse. */
import * as z from 'zod/mini'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { problemOfShape } from '../../lib/request/shape.ts'
import type { AgentDraft } from './draft.ts'

const text = z.nullish(z.string())
const rule = z.looseObject({
  enabled: z.nullish(z.boolean()),
  permission_policy: z.nullish(z.looseObject({ type: z.string() })),
})
const named = z.array(z.looseObject({ name: z.string() }))
const tool = z.looseObject({
  type: z.string(),
  name: z.optional(z.string()),
  default_config: z.nullish(rule),
  schedule_wakeup: z.nullish(rule),
  configs: z.nullish(named),
})
const member = z.union([z.string(), z.looseObject({ type: z.string() })])

const DraftShape = z.looseObject({
  name: text,
  description: text,
  model: z.nullish(z.union([z.string(), z.looseObject({ id: z.string() })])),
  system: text,
  tools: z.nullish(z.array(tool)),
  mcp_servers: z.nullish(named),
  skills: z.nullish(z.array(z.union([z.string(), z.looseObject({ skill_id: z.string() })]))),
  environment_id: text,
  memory_store_id: text,
  metadata: z.nullish(z.record(z.string(), z.unknown())),
  multiagent: z.nullish(z.looseObject({ type: z.string(), agents: z.nullish(z.array(member)) })),
})

/** Takes what was written as YAML. Where it has no form that can be shown, nothing is taken, and the answer says why. */
export function takeYaml(body: JsonBody, take: (draft: AgentDraft) => void): string | undefined {
  const problem = problemOfShape(DraftShape, body)
  if (problem === undefined) take(JSON.parse(JSON.stringify(body)))
  return problem
}
