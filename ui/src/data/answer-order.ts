/** Answers overtake each other: what was asked for before an answer that has been taken is out of date. */
export class AnswerOrder {
  #asked = 0;
  #taken = 0;

  /** Before it is asked for. What is given back is called with the answer, and is false where a later one has been taken. */
  ask(): () => boolean {
    const round = ++this.#asked;
    return () => {
      if (round < this.#taken) return false;
      this.#taken = round;
      return true;
    };
  }
}
