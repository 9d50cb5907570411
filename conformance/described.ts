/** Compares a published description with the service: sends its examples and checks the answers against its schemas. */
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { TestService } from './service.ts'
import { oddZip, skillText } from './skills.ts'

type Content = Record<string, { schema: { $ref?: string } }>
export type DescribedOperation = {
  operationId: string
  security: Record<string, string[]>[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type Description = {
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, { examples?: Record<string, unknown>[] }> }
}

type Things = {
  /** Returns the path with ids of existing things in place of its parameters. */
  fill: (path: string) => string
  headersOf: (operation: DescribedOperation) => Record<string, string>
  /** Replacements for the ids of an example: ids of existing things. */
  examplesHere: () => Record<string, string>
}

export async function describedAt(service: TestService, path: string, things: Things) {
  const described = (await service.ask<Description>('GET', path)).body
  const ajv = new Ajv2020({
    ...{ strict: false, validateFormats: false },
    // Each definition is compiled once, not once for each reference to it.
    ...{ code: { optimize: false }, inlineRefs: false },
  })
  ajv.addSchema(described, 'openapi.json')

  /** All examples of the body, with ids of existing things in them. */
  function examplesOf({ requestBody, operationId }: DescribedOperation, type: string) {
    const name = requestBody?.content[type]?.schema.$ref?.replace('#/components/schemas/', '') ?? ''
    const examples = described.components.schemas[name]?.examples ?? []
    assert.ok(examples.length > 0, `${operationId} has no example`)
    let text = JSON.stringify(examples)
    for (const [shown, here] of Object.entries(things.examplesHere()))
      text = text.replaceAll(shown, here)
    return JSON.parse(text) as Record<string, string | string[]>[]
  }

  async function send(
    template: string,
    method: string,
    operation: DescribedOperation,
    {
      type,
      example,
      more,
    }: { type: string; example: Record<string, string | string[]>; more: Record<string, string> },
  ) {
    const isForm = type === 'multipart/form-data'
    const answer = await fetch(service.base + things.fill(template), {
      method: method.toUpperCase(),
      headers: {
        ...things.headersOf(operation),
        ...more,
        ...(isForm ? {} : { 'content-type': type }),
      },
      body: isForm ? formOf(example, template) : JSON.stringify(example),
    })
    const isTaken = answer.status >= 200 && answer.status < 300
    const text = isTaken ? '' : await answer.text()
    assert.ok(isTaken, `${operation.operationId} ${answer.status} ${text}`)
    await checkAnswer(answer, [template, method], operation)
  }

  async function checkAnswer(
    answer: Response,
    path: string[],
    { operationId, responses }: DescribedOperation,
  ) {
    const at = `${operationId} ${answer.status}`
    const as = responses[String(answer.status)]
    assert.ok(as, `${at}: this status is not described`)
    const type = answer.headers.get('content-type')?.split(';')[0]
    const types = Object.keys(as.content ?? {})
    const isTyped = type === undefined ? types.length === 0 : types.includes(type)
    assert.ok(isTyped || types.includes('*/*'), `${at}: ${type} is not described`)
    const isChecked = type === 'application/json' && types.includes(type)
    if (!isChecked) return answer.body?.cancel()
    const pointer = [...path, 'responses', String(answer.status), 'content', type, 'schema']
    check(operationId, ['paths', ...pointer], await answer.json())
  }

  function check(name: string, pointer: string[], body: unknown) {
    const path = pointer.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
    const fragment = path.map((part) => encodeURIComponent(part)).join('/')
    const isAs = ajv.compile({ $ref: `openapi.json#/${fragment}` })
    const why = () => `${name}: ${ajv.errorsText(isAs.errors)}\n${JSON.stringify(body)}`
    assert.ok(isAs(body), why())
  }

  return {
    /** Checks the body of an error. */
    checkError: (body: unknown): void =>
      check(
        'the error',
        ['components', 'responses', 'Error', 'content', 'application/json', 'schema'],
        body,
      ),

    /** Sends each example. Skips bodies that another document describes. Returns the number of sent examples. */
    async sendExamples(
      isLeftOut: (path: string) => boolean,
      more: Record<string, string> = {},
    ): Promise<number> {
      let sent = 0
      for (const [template, item] of Object.entries(described.paths))
        for (const [method, operation] of Object.entries(item))
          for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {})) {
            if (isLeftOut(template) || schema.$ref === undefined) continue
            for (const example of examplesOf(operation, type)) {
              await send(template, method, operation, { type, example, more })
              sent++
            }
          }
      return sent
    },

    /** Reads each path, but for streams. Returns the number of paths. `more`: further headers. */
    async readAnswers(
      isLeftOut: (path: string) => boolean,
      more: Record<string, string> = {},
    ): Promise<number> {
      let read = 0
      for (const [template, { get }] of Object.entries(described.paths)) {
        const types = Object.keys(get?.responses['200']?.content ?? {})
        if (!get || types.every((type) => type === 'text/event-stream') || isLeftOut(template))
          continue
        assert.equal(await readAnswer(template, more), 200, template)
        read++
      }
      return read
    },

    readAnswer,
  }

  /** Reads one path. Returns the status. `more`: further headers. */
  async function readAnswer(
    template: string,
    more: Record<string, string> = {},
    query = '',
  ): Promise<number> {
    const get = described.paths[template]?.['get']
    assert.ok(get, `${template} is not described`)
    const url = service.base + things.fill(template) + query
    const answer = await fetch(url, { headers: { ...things.headersOf(get), ...more } })
    await checkAnswer(answer, [template, 'get'], get)
    return answer.status
  }
}

const archive = oddZip([{ name: 'other/SKILL.md', bytes: skillText('other') }])

/** The example as a form with files, as a browser sends it. */
function formOf(example: Record<string, string | string[]>, path: string): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(example)) {
    if (name === 'files[]') {
      for (const text of [value].flat()) form.append(name, new Blob([text]), 'greeting/SKILL.md')
    } else if (name === 'file') {
      form.set(name, new Blob([path.endsWith('/upload') ? archive : String(value)]), 'a.txt')
    } else form.set(name, String(value))
  }
  return form
}
