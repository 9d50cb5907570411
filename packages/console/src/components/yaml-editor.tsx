/** An object to write as YAML. */
import { lazy, Suspense, useState } from 'react'
import { parse, stringify } from 'yaml'
import type { JsonBody } from '../lib/request/api-call.ts'
import { words } from '../lib/words.ts'
import { FieldGroup } from './form-page.tsx'

const CodeEditor = lazy(async () => ({ default: (await import('./code-editor.tsx')).CodeEditor }))

export const yamlOf = (body: JsonBody): string =>
  Object.keys(body).length === 0 ? '' : stringify(body, { lineWidth: 0 })

/** Text that is no object in YAML changes nothing, and says why. */
export function YamlEditor({
  label,
  body,
  onBody,
}: {
  label: string
  body: JsonBody
  /** Answers why it cannot be taken, if it cannot. */
  onBody: (body: JsonBody) => string | void
}) {
  const [typed, setTyped] = useState<{ text: string; body: JsonBody | undefined }>()
  const [problem, setProblem] = useState<string>()
  // What was typed stays as it stands for as long as the form says the same.
  const isSame =
    typed && (problem !== undefined || JSON.stringify(typed.body) === JSON.stringify(body))
  const change = (text: string) => {
    const read = readYaml(text)
    const refused = typeof read === 'string' ? read : (onBody(read) ?? undefined)
    setProblem(refused)
    setTyped({ text, body: refused === undefined && typeof read !== 'string' ? read : undefined })
  }
  return (
    <>
      <div className="min-h-0 flex-1">
        <Suspense>
          <CodeEditor label={label} value={isSame ? typed.text : yamlOf(body)} onChange={change} />
        </Suspense>
      </div>
      {problem !== undefined && (
        <p role="alert" className="shrink-0 border-t px-4 py-2 text-small text-failed">
          {problem}
        </p>
      )}
    </>
  )
}

function readYaml(text: string): JsonBody | string {
  try {
    const read: unknown = parse(text) ?? {}
    if (typeof read !== 'object' || read === null || Array.isArray(read))
      return words.request.notAnObject
    return { ...read }
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
}

type YamlFieldProps = {
  label: string
  hint: string
  problem?: string | undefined
  body: JsonBody
  onBody: (body: JsonBody) => void
}

/** A field of a form that is written as YAML. */
export const YamlField = ({ label, hint, problem, body, onBody }: YamlFieldProps) => (
  <FieldGroup label={label} hint={hint} problem={problem}>
    <div className="flex h-[200px] min-w-0 flex-col overflow-hidden rounded-base border border-n6 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent">
      <YamlEditor label={label} body={body} onBody={onBody} />
    </div>
  </FieldGroup>
)
