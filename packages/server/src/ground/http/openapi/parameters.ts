/** Parameters of paths and queries in the published description, and parameters that operations share. */
import type { SchemaNode } from './schemas.ts'
import { componentName } from './schemas.ts'

export type Operation = SchemaNode & {
  parameters: SchemaNode[]
  security: Record<string, string[]>[]
}

/**
 * Parameters whose description does not follow from their names. Of several matching ends of a path, the longest wins.
 */
const sentences: Record<string, string> = {
  '{app}': 'The name of the integration: `github`, `linear` or `slack`.',
  '{delivery}': 'The id of the delivery.',
  '{file}': 'The id of the file.',
  'outputs/{session_id}/{filename}':
    'The path of the file below the outputs of the session, as one segment: `~1` stands for `/`, and `~0` for `~`.',
  '{filename}': 'The path of the file, percent-encoded as one segment.',
  'integrations/{id}': 'The name of the integration, such as `webhook` or `github`.',
  '{integration_id}': 'The name of the integration, such as `webhook` or `github`.',
  '{invocation_id}': 'The id of the invocation.',
  'models/{id}': 'The name of the model, as an agent says it.',
  'quotas/{name}': 'The name of the quota, as the list has it.',
  '{part}': 'The key of the archive, as the answer to its upload says it.',
  '{provider}': 'The name of the identity provider: `google`, `github` or `oidc`.',
  '{pub_id}': 'The id of the publication.',
  '{resource}': 'The id of the resource.',
  '{server_name}': 'The name of the MCP server, as the agent says it.',
  '{store}': 'The id of the memory store.',
  '{thread}': 'The id of the thread.',
  'agents/{id}/versions/{version}': 'The number of the version: 1 is the first.',
  '{version}': 'The number or the id of the version, or `latest`.',
  'memory_versions/{version_id}': 'The id of the version of a memory.',
  '{work}': 'The id of the work item.',
}

const spelled: Record<string, string> = { 'api key': 'API key', 'sign in': 'sign-in' }

/** `memory_stores` is `memory store`. */
function nounOf(segment: string): string {
  const words = segment.replaceAll(/[_-]/g, ' ').replace(/ies$/, 'y').replace(/s$/, '')
  return spelled[words] ?? words
}

function sentenceOf(path: string): string {
  const known = Object.keys(sentences)
    .filter((end) => path.endsWith(`/${end}`))
    .toSorted((one, other) => other.length - one.length)[0]
  if (known !== undefined) return sentences[known] ?? ''
  const [before = '', last = ''] = path.split('/').slice(-2)
  const name = last.slice(1, -1)
  return `The id of the ${name === 'id' ? nounOf(before) : nounOf(name.replace(/_id$/, ''))}.`
}

/** `path` with its parameters in braces. */
export const pathParameters = (path: string): SchemaNode[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(({ 0: braced, 1: name, index }) => ({
    name,
    in: 'path',
    required: true,
    description: sentenceOf(path.slice(0, index + braced.length)),
    schema: { type: 'string' },
  }))

export const queryParameters = ({
  properties = {},
  required = [],
}: {
  properties?: Record<string, SchemaNode>
  required?: string[]
}): SchemaNode[] =>
  Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema,
  }))

const signedHeader = (name: string, description: string): SchemaNode => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
})

/** The signature of a request, as Standard Webhooks has it. */
export const signedParameters: readonly SchemaNode[] = [
  signedHeader('webhook-id', 'Names the request. A repetition has the same value.'),
  signedHeader('webhook-timestamp', 'When the request was signed, in seconds since 1970.'),
  signedHeader(
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 of id, timestamp and body, joined by dots, in base64.',
  ),
]

/** Moves each parameter of several operations into the components, and returns these components. */
export function shareParameters(operations: readonly Operation[]): Record<string, SchemaNode> {
  const uses = new Map<string, { parameter: SchemaNode; count: number }>()
  for (const parameter of operations.flatMap(({ parameters }) => parameters)) {
    const text = JSON.stringify(parameter)
    uses.set(text, { parameter, count: (uses.get(text)?.count ?? 0) + 1 })
  }
  const shared: Record<string, SchemaNode> = {}
  const names = new Map<string, string>()
  const byUse = [...uses].toSorted(([, one], [, other]) => other.count - one.count)
  for (const [text, { parameter, count }] of byUse) {
    const name = freeName(parameter, shared)
    if (count < 2 || name === undefined) continue
    shared[name] = parameter
    names.set(text, name)
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters.map((parameter) => {
      const name = names.get(JSON.stringify(parameter))
      return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
    })
  }
  return shared
}

/**
 * The parameter's own name when it is free; otherwise the name in its sentence: `The id of the agent.` gives `AgentId`.
 */
function freeName(
  { name, in: location, description }: SchemaNode,
  taken: Record<string, SchemaNode>,
): string | undefined {
  const noun = /^The (id|name|number) of the ([\w -]+)/.exec(String(description))
  const told = noun && componentName(`${noun[2]} ${noun[1]}`)
  const own = componentName(String(name))
  const names = location === 'path' && told ? [told] : [own]
  return names.find((each) => !Object.hasOwn(taken, each))
}
