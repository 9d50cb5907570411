/** What the form can show of an environment: the outlines of its fields. Everything finer is the service's to refuse. */
import type { JsonBody } from '../../lib/request/api-call.ts'
import {
  anything,
  fields,
  listOf,
  mapOf,
  optional,
  problemOfShape,
  text,
  textOr,
} from '../../lib/request/shape.ts'
import type { EnvironmentDraft } from './draft.ts'

const names = listOf(textOr(() => []))
const packages = mapOf(names)

const DraftShape = fields({
  name: text,
  description: text,
  base_image: text,
  packages,
  network: fields({ allowlist: names, denylist: names }),
  env: mapOf(text),
  config: optional(
    fields({ networking: optional(fields({ allowed_hosts: names }, ['type'])), packages }, [
      'type',
    ]),
  ),
  metadata: mapOf(anything),
})

/** Takes what was written as YAML. Where it has no form that can be shown, nothing is taken, and the answer says why. */
export function takeYaml(
  body: JsonBody,
  take: (draft: EnvironmentDraft) => void,
): string | undefined {
  const problem = problemOfShape(DraftShape, body)
  if (problem === undefined) take(JSON.parse(JSON.stringify(body)))
  return problem
}
