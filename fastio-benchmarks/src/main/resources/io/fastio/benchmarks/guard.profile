# Ratios to the reference of each goal: bench guard --record FILE
1.847 rate: n=10: switch
0.000 rate: n=10: alloc
1.717 rate: n=100: switch
0.000 rate: n=100: alloc
1.775 rate: n=10000: switch
0.000 rate: n=10000: alloc
1.195 rate: n=10000 to n=10: growth
1.057 rate_features: n=100: switch
0.000 alloc: yield: alloc
0.000 alloc: sleep: alloc
0.000 alloc: after: alloc
0.000 alloc: wait: alloc
0.000 alloc: event: alloc
0.000 alloc: flag: alloc
0.000 alloc: lock: alloc
0.000 alloc: semaphore: alloc
0.000 alloc: queue: alloc
0.000 alloc: readInto: alloc
0.919 callbacks: callSoon: call
0.000 callbacks: callSoon: alloc
0.218 callbacks: callLater: call
0.000 callbacks: callLater: alloc
