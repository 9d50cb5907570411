import { useState } from 'react'
import { Composer } from '../../components/composer.tsx'
import type { Session } from '../../lib/api/types.ts'
import { useNoAnswerReason } from '../../lib/rights.ts'
import { words } from '../../lib/words.ts'
import { contentOf, isUploading, useAttachments } from './attachments.ts'
import { keepDraft, readDraft, useSend } from './session.ts'

const closedBecause = ({
  archived_at: archived,
  status,
}: Pick<Session, 'archived_at' | 'status'>): string | undefined => {
  if (archived !== null) return words.session.archived
  return status === 'terminated' ? words.session.ended : undefined
}

export function ComposerBox({ session }: { session: Session }) {
  const { id } = session
  const [text, setText] = useState(() => readDraft(id))
  const files = useAttachments(id)
  const post = useSend(id)
  const readOnly = useNoAnswerReason()
  const change = (next: string) => {
    setText(next)
    keepDraft(id, next)
  }
  const send = () => {
    if (post.isPending) return
    const attached = files.all
    keepDraft(id, text)
    post.mutate(
      { content: contentOf(text.trim(), attached), draft: text },
      {
        onSuccess: () => {
          files.forget(attached)
          setText((now) => (now === text ? '' : now))
        },
      },
    )
  }
  return (
    <Composer
      value={text}
      onChange={change}
      onSend={send}
      isSending={post.isPending}
      attachments={files.all}
      onAttach={files.add}
      onDetach={files.remove}
      problem={post.error?.message}
      offBecause={closedBecause(session) ?? readOnly}
      waitsFor={whatHolds(files.all)}
    />
  )
}

const whatHolds = (attachments: ReturnType<typeof useAttachments>['all']): string | undefined => {
  if (attachments.some(isUploading)) return words.session.uploading
  return attachments.some(({ problem }) => problem !== undefined)
    ? words.session.notAttached
    : undefined
}
