/** What to do with a lab in which nothing was measured yet. */
export function FirstSteps() {
  return (
    <>
      <p>Nothing was measured yet. These commands write to this lab when they are given its store:</p>
      <pre>zerolap run</pre>
      <p class="quiet">measures the server that is installed here</p>
      <pre>zerolap compare HEAD~1 HEAD --repo ~/redis</pre>
      <p class="quiet">compares a commit with its parent</p>
      <pre>zerolap history --repo ~/redis --measure main~20..main</pre>
      <p class="quiet">measures the last twenty commits of a branch</p>
      <pre>zerolap snapshot redis-server</pre>
      <p class="quiet">measures what saving in the background costs the clients of a server</p>
      <pre>zerolap serve --triggers triggers.toml</pre>
      <p class="quiet">measures pull requests, pushes and tags by itself</p>
    </>
  );
}
