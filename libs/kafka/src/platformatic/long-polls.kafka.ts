// Long polls of several brokers: news of one is news, however long the others have none.
//
// Invariants
//   I1. A question that is open is not asked a second time: who asks the same waits for that answer.

/** What a broker said of positions, and whether there is something at one of them. */
export interface Poll<Answer> {
  readonly answer: Answer;
  readonly isNews: boolean;
}

export class LongPolls<Broker extends object, Answer> {
  private readonly open = new Map<Broker, Map<string, Promise<Poll<Answer>>>>();

  /**
   * What the first said that had news; what all said where none had any.
   *
   * Shape:  `named`: the same text for the same question to a broker.
   * Errors: those of whoever is asked.
   */
  async first(
    asked: readonly { readonly broker: Broker; readonly named: string; readonly ask: () => Promise<Poll<Answer>> }[],
  ): Promise<readonly Answer[]> {
    const polls = asked.map(({ broker, named, ask }) => this.poll(broker, named, ask));
    const { promise, resolve, reject } = Promise.withResolvers<readonly Answer[]>();
    for (const poll of polls)
      poll.then(({ answer, isNews }) => {
        if (isNews) resolve([answer]);
      }, reject);
    Promise.all(polls).then((all) => {
      resolve(all.map(({ answer }) => answer));
    }, reject);
    return promise;
  }

  private poll(broker: Broker, named: string, ask: () => Promise<Poll<Answer>>): Promise<Poll<Answer>> {
    const ofBroker = this.open.get(broker) ?? new Map<string, Promise<Poll<Answer>>>();
    this.open.set(broker, ofBroker);
    const known = ofBroker.get(named);
    if (known !== undefined) return known;
    const made = ask().finally(() => {
      ofBroker.delete(named);
      if (ofBroker.size === 0) this.open.delete(broker);
    });
    ofBroker.set(named, made);
    return made;
  }
}
