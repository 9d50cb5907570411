/** What the form can show of an agent: the outlines of its fields. Everything finer is the service's to refuse. */
import type { JsonBody } from '../../lib/request/api-call.ts'
import {
  anything,
  fields,
  flag,
  listOf,
  mapOf,
  optional,
  problemOfShape,
  text,
  textOr,
} from '../../lib/request/shape.ts'
import type { AgentDraft } from './draft.ts'

const policy = fields({ type: text })
const toolRule = fields({ enabled: flag, permission_policy: policy })
const named = listOf(fields({}, ['name']))
const member = textOr(fields({}, ['type']))

const DraftShape = fields({
  name: text,
  description: text,
  model: optional(textOr(fields({}, ['id']))),
  system: text,
  tools: listOf(
    fields(
      {
        name: text,
        default_config: toolRule,
        schedule_wakeup: toolRule,
        automations: toolRule,
        configs: named,
      },
      ['type'],
    ),
  ),
  mcp_servers: named,
  skills: listOf(textOr(fields({}, ['skill_id']))),
  environment_id: text,
  memory_store_id: text,
  metadata: mapOf(anything),
  multiagent: optional(fields({ agents: listOf(member) }, ['type'])),
})

/** Takes what was written as YAML. Where it has no form that can be shown, nothing is taken, and the answer says why. */
export function takeYaml(body: JsonBody, take: (draft: AgentDraft) => void): string | undefined {
  const problem = problemOfShape(DraftShape, body)
  if (problem === undefined) take(JSON.parse(JSON.stringify(body)))
  return problem
}
