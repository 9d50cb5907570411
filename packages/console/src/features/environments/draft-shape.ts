/** What the form can show of an environment: the outlines of its fields. Everything finer is the service's to refuse. */
import * as z from 'zod/mini'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { problemOfShape } from '../../lib/request/shape.ts'
import type { EnvironmentDraft } from './draft.ts'

const text = z.nullish(z.string())
const names = z.nullish(z.array(z.string()))
const packages = z.nullish(z.record(z.string(), names))

const DraftShape = z.looseObject({
  name: text,
  description: text,
  base_image: text,
  packages,
  network: z.nullish(z.looseObject({ allowlist: names, denylist: names })),
  env: z.nullish(z.record(z.string(), z.string())),
  config: z.nullish(
    z.looseObject({
      type: z.string(),
      networking: z.nullish(z.looseObject({ type: z.string(), allowed_hosts: names })),
      packages,
    }),
  ),
  metadata: z.nullish(z.record(z.string(), z.unknown())),
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
