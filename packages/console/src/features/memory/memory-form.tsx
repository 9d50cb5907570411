/** Path and text of a memory, what will be sent, and the buttons. */
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Problem, Row, Stack } from '../../components/layout.tsx'
import { RequestBox } from '../../components/request-box.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import type { ApiCall } from '../../lib/request/api-call.ts'
import { words } from '../../lib/words.ts'
import type { MemoryDraft } from './memory-draft.ts'
import { memoryWords as own } from './words.ts'

type MemoryFormProps = {
  draft: MemoryDraft
  onDraft: (draft: MemoryDraft) => void
  fields: Problems['fields']
  problem: string | undefined
  verb: string
  isBusy: boolean
  offBecause: string | undefined
  call: ApiCall
  isNew?: boolean
  onSubmit: () => void
  onClose: () => void
}

export function MemoryForm(props: MemoryFormProps) {
  const { draft, onDraft, fields, problem, verb, isBusy, offBecause, call, isNew = false } = props
  const submit = () => {
    if (offBecause === undefined && !isBusy) props.onSubmit()
  }
  return (
    <Stack>
      <Field
        label={own.fields.path}
        placeholder={own.fields.pathPlaceholder}
        value={draft.path}
        problem={fields['path']}
        autoFocus={isNew}
        onChange={(path) => onDraft({ ...draft, path })}
      />
      <Field
        isLong
        label={own.fields.text}
        value={draft.content}
        problem={fields['content']}
        autoFocus={!isNew}
        onChange={(content) => onDraft({ ...draft, content })}
        onSubmit={submit}
      />
      <Row isWrapped>
        <Button kind="yes" isBusy={isBusy} offBecause={offBecause} onClick={submit}>
          {verb}
        </Button>
        <Button onClick={props.onClose}>{words.cancel}</Button>
        <Problem text={problem} />
      </Row>
      <RequestBox call={call} />
    </Stack>
  )
}
