/** What a form will send, beside it: as a call of a program to copy, and as YAML to write in; the form follows. */
import { useMemo, useState } from 'react'
import { diffOf } from '../lib/diff.ts'
import { serviceUrl } from '../lib/place.ts'
import type { ApiCall, CallForm, JsonBody } from '../lib/request/api-call.ts'
import { callForms, callText } from '../lib/request/api-call.ts'
import { words } from '../lib/words.ts'
import { CopyButton } from './copy-button.tsx'
import { Tabs } from './tabs.tsx'
import { YamlEditor, yamlOf } from './yaml-editor.tsx'

type RequestViewProps = {
  call: ApiCall
  /** The same call before anything was changed: lines that are new are marked. */
  before?: ApiCall
  /** The whole that the form changes, and who hears of another one. */
  whole?: JsonBody
  onWhole?: (body: JsonBody) => string | void
}

type View = CallForm | 'yaml'

export function RequestView({ call, before, whole, onWhole }: RequestViewProps) {
  const [view, setView] = useState<View>(call.client === undefined ? 'curl' : 'typescript')
  const forms = call.client === undefined ? (['curl'] as const) : callForms
  const tabs: { name: View; label: string }[] = [
    ...forms.map((name) => ({ name, label: words.request.forms[name] })),
    ...(whole && onWhole ? [{ name: 'yaml' as const, label: words.request.forms.yaml }] : []),
  ]
  const text = view === 'yaml' ? yamlOf(whole ?? {}) : callText(call, view, serviceUrl)
  return (
    <div
      role="group"
      aria-label={words.request.title}
      className="flex min-h-0 flex-1 flex-col bg-n2"
    >
      <div className="flex shrink-0 items-center border-b pr-2 [&>[role=tablist]]:flex-1 [&>[role=tablist]]:border-b-0">
        <Tabs label={words.request.title} tabs={tabs} chosen={view} onChoose={setView} />
        <CopyButton text={text} />
      </div>
      {view === 'yaml' && whole && onWhole ? (
        <YamlEditor label={words.request.yaml} body={whole} onBody={onWhole} />
      ) : (
        <Lines
          text={text}
          before={before && view !== 'yaml' ? callText(before, view, serviceUrl) : undefined}
        />
      )}
    </div>
  )
}

/** Strings in quotes have a colour of their own. */
const string = /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/

function Lines({ text, before }: { text: string; before: string | undefined }) {
  const isNew = useMemo(() => {
    if (before === undefined) return new Set<number>()
    const { lines } = diffOf(before, text)
    return new Set(lines.flatMap((line) => (line.kind === 'added' ? [line.after] : [])))
  }, [text, before])
  return (
    <pre
      tabIndex={0}
      aria-label={words.request.title}
      className="min-h-0 flex-1 overflow-auto py-4 font-mono text-small leading-[1.6] whitespace-pre-wrap text-n10 outline-offset-[-2px]"
    >
      {text.split('\n').map((line, at) => (
        <span key={at} className={`block px-4 ${isNew.has(at + 1) ? 'bg-good-quiet' : ''}`}>
          {line.split(string).map((part, index) => (
            <span key={index} className={index % 2 === 1 ? 'text-good' : ''}>
              {part}
            </span>
          ))}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}
