import { useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Note } from '../../components/message.tsx'
import { words } from '../../lib/words.ts'
import { interruption, usePost } from './session.ts'

/** Asks before the agent is interrupted; to let it go on is the safe answer. */
export function Interruption({ session, onClose }: { session: string; onClose: () => void }) {
  const post = usePost(session)
  const keep = useRef<HTMLButtonElement>(null)
  return (
    <Dialog
      title={words.session.interruptTitle}
      onClose={onClose}
      firstFocus={keep}
      actions={
        <>
          <Button ref={keep} onClick={onClose}>
            {words.session.interruptKeep}
          </Button>
          <Button
            kind="danger"
            isBusy={post.isPending}
            onClick={() => post.mutate([interruption()], { onSuccess: onClose })}
          >
            {words.session.interrupt}
          </Button>
        </>
      }
    >
      <p>{words.session.interruptText}</p>
      {post.isError && <Note isFailure>{post.error.message}</Note>}
    </Dialog>
  )
}
